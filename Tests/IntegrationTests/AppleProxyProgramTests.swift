import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JOSE
import JSON
import OpenSSL
import Testing

/// The Apple-compatible doors with keys that the command issues, as Apple's libraries use them.
struct AppleProxyTests {
    private static let consumption =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    private static let consumptionOfVersion1 =
        #"{"accountTenure":0,"appAccountToken":"","consumptionStatus":2,"customerConsented":true,"deliveryStatus":0,"lifetimeDollarsPurchased":0,"lifetimeDollarsRefunded":0,"platform":1,"playTime":0,"refundPreference":0,"sampleContentProvided":false,"userStatus":1}"#

    /// A caller key as its bearer knows it.
    private struct Key {
        let id: String
        let issuer: String
        let privateKey: ECPrivateKey

        /// A token as Apple's libraries make it; the Python one leaves `iat` out.
        func token(hasIssueTime: Bool = true) throws -> String {
            let now = Date()
            let claims = JWTClaims(
                issuer: issuer, audience: ["appstoreconnect-v1"], issuedAt: hasIssueTime ? now : nil,
                expiresAt: now + 900, others: ["bid": .string(DaemonFixture.bundleID)])
            return try JWT.sign(claims, keyID: id, with: privateKey)
        }
    }

    private func command(_ fixture: DaemonFixture) -> CallerKeysCommand {
        CallerKeysCommand(daemon: RunningDaemon(file: "", socket: fixture.adminSocket, environment: [:]))
    }

    private func callers(_ fixture: DaemonFixture) -> CallersAdministrationCommand {
        CallersAdministrationCommand(daemon: RunningDaemon(file: "", socket: fixture.adminSocket, environment: [:]))
    }

    private func issueKey(
        _ fixture: DaemonFixture, caller: String = "shop",
        scopes: [String] = ["transactions:read", "consumption:write"]
    ) async throws -> Key {
        let file = fixture.folder.appending(path: "\(UUID().uuidString).p8")
        let outcome = await command(fixture).issue(caller: caller, app: "coins", scopes: scopes, to: file.path)
        try #require(outcome.status == .success, "\(outcome.errorOutput)")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let id = try #require(outcome.output.firstMatch(of: /key id: +([A-Z0-9]{10})\n/)?.output.1)
        let issuer = try #require(outcome.output.firstMatch(of: /issuer id: +([0-9a-f-]{36})\n/)?.output.1)
        return Key(
            id: String(id), issuer: String(issuer),
            privateKey: try ECPrivateKey(pkcs8PEM: Array(try Data(contentsOf: file))))
    }

    private func withDoors(
        _ body: @Sendable @escaping (DaemonFixture, _ proxy: String, _ transactionID: String) async throws -> Void
    ) async throws {
        var options = DaemonFixture.Options()
        options.hasDoors = true
        try await DaemonFixture.with(options) { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let id = try #require(try fixture.buy(account).transactionId)
            try await body(fixture, try #require(fixture.doors[.production]), id)
        }
    }

    @Test func `a key that the command issues opens the door until it is revoked`() async throws {
        try await withDoors { fixture, proxy, id in
            let key = try await issueKey(fixture)
            let target = "\(proxy)/inApps/v1/transactions/\(id)"
            for hasIssueTime in [true, false] {
                let reply = try await fixture.send("GET", target, token: try key.token(hasIssueTime: hasIssueTime))
                #expect(reply.status == 200)
                #expect(reply.headers["content-type"]?.hasPrefix("application/json") == true)
                #expect(try reply.json["signedTransactionInfo"]?.string?.split(separator: ".").count == 3)
            }
            let list = await callers(fixture).list()
            #expect(list.output.contains("key \(key.id) for coins: active"))
            #expect(await callers(fixture).revoke("shop", key.id).status == .success)
            let refused = try await fixture.send("GET", target, token: try key.token())
            #expect(refused.status == 401)
            #expect(refused.body == Array("Unauthenticated\n".utf8))
        }
    }

    @Test func `Apple's refusal comes through as it is, and leads to the other door`() async throws {
        try await withDoors { fixture, _, id in
            let token = try await issueKey(fixture).token()
            let sandbox = try #require(fixture.doors[.sandbox])
            let reply = try await fixture.send("GET", "\(sandbox)/inApps/v1/transactions/\(id)", token: token)
            #expect(reply.status == 404)
            #expect(try reply.json["errorCode"] == 4_040_010)
            #expect(fixture.calls(.getTransactionInfo, .sandbox) == 1)
            #expect(fixture.calls(.getTransactionInfo, .production) == 0)
        }
    }

    @Test func `consumption goes out by the one way, and a scope that is missing is named`() async throws {
        try await withDoors { fixture, proxy, id in
            let token = try await issueKey(fixture).token()
            let target = "\(proxy)/inApps/v2/transactions/consumption/\(id)"
            let accepted = try await fixture.send("PUT", target, body: Self.consumption, token: token)
            #expect(accepted.status == 202)
            #expect(accepted.body.isEmpty)
            let refused = try await fixture.send("PUT", target, body: "{}", token: token)
            #expect(refused.status == 400)
            #expect(try refused.json["errorCode"] == 4_000_035)
            #expect(fixture.calls(.sendConsumptionInformation) == 1)
            let version1 = try await fixture.send(
                "PUT", "\(proxy)/inApps/v1/transactions/consumption/\(id)", body: Self.consumptionOfVersion1,
                token: token)
            #expect(version1.status == 202 && version1.body.isEmpty)
            #expect(fixture.calls(.sendConsumptionInformationV1) == 1)
            let forbidden = try await fixture.send("GET", "\(proxy)/inApps/v2/refund/lookup/\(id)", token: token)
            #expect(forbidden.status == 403)
            #expect(try forbidden.json["errorMessage"]?.string?.contains("refunds:read") == true)
        }
    }

    @Test func `consumption that Apple cannot take now is on its way, as the door's answer says`() async throws {
        try await withDoors { fixture, proxy, id in
            let token = try await issueKey(fixture).token()
            fixture.simulator.state.inject(Fault(.status(503), operation: .sendConsumptionInformation, count: 1))
            let target = "\(proxy)/inApps/v2/transactions/consumption/\(id)"
            #expect(try await fixture.send("PUT", target, body: Self.consumption, token: token).status == 202)
            try await fixture.event("delivery.accepted", about: id)
            #expect(fixture.received(id).map(\.status) == [503, 202])
            let list = try await fixture.send("GET", "\(DaemonFixture.app)/deliveries?transactionId=\(id)").json
            #expect(list["deliveries"]?.array?.count == 1 && list["deliveries"]?[0]?["caller"] == "shop")
        }
    }

    @Test func `Apple's 401 to our key is not the caller's`() async throws {
        try await withDoors { fixture, proxy, id in
            let token = try await issueKey(fixture).token()
            fixture.simulator.state.inject(Fault(.status(401)))
            let reply = try await fixture.send("GET", "\(proxy)/inApps/v1/transactions/\(id)", token: token)
            #expect(reply.status == 500)
            #expect(try reply.json["errorCode"] == 5_000_001)
        }
    }

    @Test func `what the daemon refuses leaves no key file behind`() async throws {
        try await withDoors { fixture, _, _ in
            let file = fixture.folder.appending(path: "refused.p8")
            let outcome = await command(fixture).issue(caller: "shop", app: "nothing", scopes: [], to: file.path)
            #expect(outcome.status == .failure)
            #expect(outcome.errorOutput.contains("No app is configured under this name"))
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let unknown = await callers(fixture).revoke("shop", "ABCDEFGHIJ")
            #expect(unknown.status == .failure)
            #expect(unknown.errorOutput.contains("no key with this id"))
        }
    }

    @Test func `a caller of the configuration keeps its scopes at the door`() async throws {
        try await withDoors { fixture, proxy, id in
            let key = try await issueKey(fixture, caller: "billing", scopes: [])
            let token = try key.token()
            let reply = try await fixture.send("GET", "\(proxy)/inApps/v2/refund/lookup/\(id)", token: token)
            #expect(reply.status == 200)
        }
    }
}
