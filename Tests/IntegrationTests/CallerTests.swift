import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JOSE
import JSON
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// Callers that operators add to a real daemon by the commands, and what they can do.
struct CallerTests {
    private func callers(_ fixture: DaemonFixture) -> CallersAdministrationCommand {
        CallersAdministrationCommand(daemon: RunningDaemon(file: "", socket: fixture.adminSocket, environment: [:]))
    }

    private func withDaemon(
        _ time: MovableTime = MovableTime(), _ body: @Sendable @escaping (DaemonFixture) async throws -> Void
    ) async throws {
        var options = DaemonFixture.Options()
        options.hasDoors = true
        options.now = time.now
        try await DaemonFixture.with(options, body: body)
    }

    /// The token that a command shows once.
    private func token(in outcome: CommandOutcome) throws -> String {
        try #require(outcome.status == .success, "\(outcome.errorOutput)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        return try #require(lines.first { $0.hasPrefix(OpaqueToken.prefix) })
    }

    private func addition(_ scopes: [String] = ["limits:read"]) -> CallersAdministrationCommand.Addition {
        var addition = CallersAdministrationCommand.Addition()
        (addition.app, addition.scopes) = (["coins"], scopes)
        return addition
    }

    @Test func `a caller is added, gets a new token beside the old, loses the old in time and the new by revocation`()
        async throws
    {
        let time = MovableTime()
        try await withDaemon(time) { fixture in
            func status(_ token: String) async throws -> Int {
                try await fixture.send("GET", "/v1/apps/coins/limits", token: token).status
            }
            let first = try token(in: await callers(fixture).add("shop", addition()))
            #expect(try await status(first) == 200)
            let second = try token(
                in: await callers(fixture).rotate("shop", graceSeconds: nil, expiresInSeconds: nil))
            for token in [first, second] { #expect(try await status(token) == 200) }
            time.advance(by: 24 * 3600 + 1)
            #expect(try await status(first) == 401)
            #expect(try await status(second) == 200)
            let shown = await callers(fixture).show("shop")
            #expect(shown.output.contains(": expired") && shown.output.contains(": active"))
            #expect(![first, second].contains { shown.output.contains($0) })
            let id = String(second.dropFirst(4).prefix(8))
            #expect(await callers(fixture).revoke("shop", id).status == .success)
            let refused = try await fixture.send("GET", "/v1/apps/coins/limits", token: second)
            #expect(refused.status == 401)
            #expect(try refused.json["detail"]?.string?.contains("revoked") == false, "only the log tells more")
            let health = try await fixture.send("GET", fixture.health + "/metrics")
            #expect(!String(decoding: health.body, as: UTF8.self).contains(second))
        }
    }

    @Test func `scopes that are granted and withdrawn count from the next request on`() async throws {
        try await withDaemon { fixture in
            let token = try token(in: await callers(fixture).add("shop", addition()))
            let target = "/v1/apps/coins/cases"
            #expect(try await fixture.send("GET", target, token: token).status == 403)
            for (isWithdrawn, status) in [(false, 200), (true, 403)] {
                let outcome = await callers(fixture).grant(
                    "shop", app: "coins", scopes: ["consumption:read"], isWithdrawn: isWithdrawn)
                #expect(outcome.status == .success)
                #expect(try await fixture.send("GET", target, token: token).status == status)
            }
            #expect(await callers(fixture).remove("shop").status == .success)
            #expect(try await fixture.send("GET", target, token: token).status == 401)
            #expect(await callers(fixture).remove("billing").errorOutput.contains("The configuration declares"))
        }
    }

    @Test func `a JWT of a caller's key opens v1 for its one app as well as the door`() async throws {
        try await withDaemon { fixture in
            _ = try token(in: await callers(fixture).add("shop", addition(["limits:read", "transactions:read"])))
            let file = fixture.folder.appending(path: "shop.p8")
            let keys = CallerKeysCommand(daemon: RunningDaemon(file: "", socket: fixture.adminSocket, environment: [:]))
            let issued = await keys.issue(caller: "shop", app: "coins", scopes: [], to: file.path)
            let id = try #require(issued.output.firstMatch(of: /key id: +([A-Z0-9]{10})\n/)?.output.1)
            let issuer = try #require(issued.output.firstMatch(of: /issuer id: +([0-9a-f-]{36})\n/)?.output.1)
            let now = Date()
            let claims = JWTClaims(
                issuer: String(issuer), audience: ["appstoreconnect-v1"], issuedAt: now, expiresAt: now + 900,
                others: ["bid": .string(DaemonFixture.bundleID)])
            let key = try ECPrivateKey(pkcs8PEM: Array(try Data(contentsOf: file)))
            let token = try JWT.sign(claims, keyID: String(id), with: key)
            let limits = try await fixture.send("GET", "/v1/apps/coins/limits", token: token)
            #expect(limits.status == 200)
            #expect(try await fixture.send("GET", "/v1/apps/coins/cases", token: token).status == 403)
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let transaction = try #require(try fixture.buy(account).transactionId)
            let door = try #require(fixture.doors[.production]) + "/inApps/v1/transactions/\(transaction)"
            #expect(try await fixture.send("GET", door, token: token).status == 200)
            #expect(await callers(fixture).revoke("shop", String(id)).status == .success)
            #expect(try await fixture.send("GET", "/v1/apps/coins/limits", token: token).status == 401)
            #expect(try await fixture.send("GET", door, token: token).status == 401)
        }
    }

    @Test func `callers and what they used outlive a restart`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        var options = DaemonFixture.Options()
        options.hasDoors = true
        let kept = KeptToken()
        try await DaemonFixture.run(options, folder, simulator) { fixture in
            let token = try token(in: await callers(fixture).add("shop", addition()))
            #expect(try await fixture.send("GET", "/v1/apps/coins/limits", token: token).status == 200)
            kept.set(token)
        }
        try await DaemonFixture.run(options, folder, simulator) { fixture in
            let shown = await callers(fixture).show("shop").output
            #expect(shown.hasPrefix("shop (store), last used 20"), "kept at the stop: \(shown)")
            let reply = try await fixture.send("GET", "/v1/apps/coins/limits", token: kept.get())
            #expect(reply.status == 200)
        }
        await simulator.stop()
    }
}

/// A token that goes from one daemon to the next.
private final class KeptToken: Sendable {
    private let token = Mutex("")

    func set(_ text: String) { token.withLock { $0 = text } }
    func get() -> String { token.withLock(\.self) }
}
