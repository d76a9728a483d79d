import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JSON
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// Keys that are imported into a real daemon, rotated, lost and found, with the App Store played over HTTPS.
struct ImportedKeyTests {
    private static let team = "57246542-96fe-1a63-e053-0824d011072a"
    private static let gems = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 43)
    private static let configured = DaemonFixture.OtherKey(id: "CONFIGURED", issuerID: team, apps: ["coins", "gems"])

    private static let options: DaemonFixture.Options = {
        var options = DaemonFixture.Options()
        // The admin socket comes with them.
        options.hasDoors = true
        options.keyState = .retired
        options.otherKeys = [configured]
        options.otherApps = [gems]
        return options
    }()

    /// A folder and an App Store that outlast daemons, each of which is run by `start`.
    ///
    /// `later`: the options of every daemon but the first.
    private func withStage(
        later: DaemonFixture.Options = options,
        _ body: (
            _ folder: URL, _ simulator: Simulator,
            _ start: (@Sendable (DaemonFixture, SigningKeysCommand) async throws -> Void) async throws -> Void
        ) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let starts = Atomic(0)
        do {
            try await body(folder, simulator) { run in
                let isFirst = starts.add(1, ordering: .relaxed).oldValue == 0
                try await DaemonFixture.run(isFirst ? Self.options : later, folder, simulator) { fixture in
                    for (bundleID, number) in [(DaemonFixture.bundleID, Int64(42)), (Self.gems.bundleID, 43)] {
                        try simulator.state.register(
                            RegisteredApp(bundleID: bundleID, appAppleID: number, issuerID: Self.team))
                    }
                    let daemon = RunningDaemon(
                        file: "", socket: fixture.adminSocket, operatorName: "mara", environment: [:])
                    try await run(fixture, SigningKeysCommand(daemon: daemon))
                }
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    /// Makes a key that the App Store knows, as the file that App Store Connect gives.
    private func download(_ keyID: String, to folder: URL, _ simulator: Simulator) throws -> String {
        let key = try ECPrivateKey.generate()
        try simulator.state.registerKey(key.publicKey, keyID: keyID, issuerID: Self.team)
        let file = folder.appending(path: "AuthKey_\(keyID).p8")
        try key.pkcs8PEM().withUnsafeBytes { Data($0) }.write(to: file)
        return file.path
    }

    private func importKey(
        _ keys: SigningKeysCommand, _ file: String, apps: [String] = ["coins"]
    ) async -> CommandOutcome {
        await keys.importKey(from: file, keyID: nil, issuerID: Self.team, apps: apps)
    }

    /// Asks Apple about a transaction that is not there; the id of the key that signed the question.
    private func signer(_ fixture: DaemonFixture, app: String = "coins") async throws -> String? {
        let reply = try await fixture.send("GET", "/v1/apps/\(app)/transactions/1?environment=Production")
        #expect(try reply.status == 404 && reply.json["apple"]?["errorCode"] == 4_040_010)
        return fixture.simulator.state.received.requests.last { $0.bundleID?.hasSuffix(app) == true }?.keyID
    }

    private func expectSigner(
        _ keyID: String, _ fixture: DaemonFixture, app: String = "coins",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let signer = try await signer(fixture, app: app)
        #expect(signer == keyID, sourceLocation: sourceLocation)
    }

    @Test func `a key is imported, checked, activated, retired and deleted, and no restart forgets where it was`()
        async throws
    {
        try await withStage { folder, simulator, start in
            let file = try download("FIRSTKEY01", to: folder, simulator)
            try await start { fixture, keys in
                try await expectSigner("CONFIGURED", fixture)
                let imported = await importKey(keys, file)
                #expect(imported.status == .success, "\(imported)")
                try await expectSigner("CONFIGURED", fixture)
                let check = await keys.check("FIRSTKEY01")
                #expect(check.status == .success && check.output.contains("Apple takes key FIRSTKEY01"))
            }
            try await start { fixture, keys in
                #expect(await keys.show("FIRSTKEY01").output.contains("standby"))
                #expect(await keys.activate("FIRSTKEY01", apps: [], unchecked: false).status == .success)
                try await expectSigner("FIRSTKEY01", fixture)
                try await expectSigner("CONFIGURED", fixture, app: "gems")
            }
            let second = try download("SECONDKEY2", to: folder, simulator)
            try await start { fixture, keys in
                try await expectSigner("FIRSTKEY01", fixture)
                #expect(await importKey(keys, second).status == .success)
                #expect(await keys.delete("FIRSTKEY01").errorOutput.contains("signs for coins"))
                #expect(await keys.activate("SECONDKEY2", apps: [], unchecked: false).status == .success)
                try await expectSigner("SECONDKEY2", fixture)
                #expect(await keys.show("FIRSTKEY01").output.contains("retired"))
                #expect(await keys.delete("FIRSTKEY01").status == .success)
            }
            try await start { fixture, keys in
                let list = await keys.list().output
                #expect(list.contains("SECONDKEY2  active for coins") && !list.contains("FIRSTKEY01"))
                try await expectSigner("SECONDKEY2", fixture)
            }
        }
    }

    @Test func `an imported key goes on signing when the one that it has replaced leaves the configuration`()
        async throws
    {
        var without = Self.options
        without.otherKeys = []
        try await withStage(later: without) { folder, simulator, start in
            let file = try download("FIRSTKEY01", to: folder, simulator)
            try await start { fixture, keys in
                #expect(await importKey(keys, file).status == .success)
                #expect(await keys.activate("FIRSTKEY01", apps: [], unchecked: false).status == .success)
                try await expectSigner("CONFIGURED", fixture, app: "gems")
            }
            try await start { fixture, keys in
                try await expectSigner("FIRSTKEY01", fixture)
                #expect(await !keys.list().output.contains("CONFIGURED"))
            }
        }
    }

    @Test func `what is no key, or one that Apple does not know, is said before anything changes`() async throws {
        try await withStage { folder, simulator, start in
            let unknown = folder.appending(path: "AuthKey_UNKNOWNKEY.p8")
            try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Data($0) }.write(to: unknown)
            let cut = folder.appending(path: "AuthKey_CUT.p8")
            try Data("-----BEGIN PRIVATE KEY-----\nMIGH".utf8).write(to: cut)
            try await start { fixture, keys in
                let truncated = await importKey(keys, cut.path)
                #expect(truncated.status == .data && truncated.errorOutput.contains("truncated"))
                #expect(await importKey(keys, folder.appending(path: "none.p8").path).status == .noInput)
                let foreign = await importKey(keys, unknown.path, apps: ["others"])
                #expect(foreign.status == .failure && foreign.errorOutput.contains("others"))
                #expect(await importKey(keys, unknown.path).status == .success)
                #expect(await keys.check("UNKNOWNKEY").status == .failure)
                let refused = await keys.activate("UNKNOWNKEY", apps: [], unchecked: false)
                #expect(refused.errorOutput.contains("Apple does not take key `UNKNOWNKEY`"))
                try await expectSigner("CONFIGURED", fixture)
                #expect(await keys.revoke("UNKNOWNKEY").status == .success)
                #expect(await keys.revoke("CONFIGURED").errorOutput.contains("declared by the configuration"))
            }
        }
    }

    @Test func `another master key takes over while requests run, and none of them fails`() async throws {
        try await withStage { folder, simulator, start in
            let file = try download("FIRSTKEY01", to: folder, simulator)
            let masterKey = folder.appending(path: "purser.masterkey")
            try await start { fixture, keys in
                _ = await importKey(keys, file)
                #expect(await keys.activate("FIRSTKEY01", apps: [], unchecked: false).status == .success)
                let before = try Data(contentsOf: masterKey)
                let isDone = Flag()
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for caller in 0..<8 {
                        group.addTask {
                            var asked = 0
                            repeat {
                                let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(caller + 1)")
                                #expect(reply.status == 404)
                                asked += 1
                            } while !isDone.isSet
                            return asked
                        }
                    }
                    for _ in 0..<3 {
                        let change = await keys.rewrap()
                        #expect(change.status == .success, "\(change)")
                    }
                    isDone.set()
                    for try await asked in group { #expect(asked > 0) }
                }
                let after = try Data(contentsOf: masterKey)
                #expect(after != before)
            }
            try await start { fixture, _ in try await expectSigner("FIRSTKEY01", fixture) }
        }
    }
}

/// Told once to all who look.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
