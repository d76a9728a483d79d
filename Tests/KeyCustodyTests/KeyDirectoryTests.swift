import Domain
import Foundation
import KeyCustody
import OpenSSL
import TestSupport
import Testing

struct KeyDirectoryTests {
    private let fixture: CustodianFixture
    private let folder: URL
    private let mara = CustodianFixture.operatorActor

    init() throws {
        fixture = try CustodianFixture()
        folder = fixture.files.folder.appending(path: "keys")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    private func write(_ name: String, in folder: URL? = nil, mode: Int = 0o600) throws {
        let file = (folder ?? self.folder).appending(path: name)
        let text = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Data($0) }
        try text.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: name))
    }

    private func start(_ declarations: [KeyDeclaration] = []) async throws -> CustodianFixture.Run {
        try await fixture.start(
            declarations,
            directories: [
                KeyDirectory(
                    path: folder.path, issuerID: CustodianFixture.issuer, apps: ["coins"], allowsGroupRead: false)
            ])
    }

    private func states(_ run: CustodianFixture.Run) -> [String: KeyStatus.State] {
        Dictionary(run.ring.statuses.map { ($0.keyID, $0.state) }) { first, _ in first }
    }

    @Test(arguments: [
        ("AuthKey_ABC123.p8", "ABC123"), ("SubscriptionKey_ABC123.p8", "ABC123"), ("ABC123.p8", "ABC123"),
        ("AuthKey_.p8", nil), ("my key.p8", nil), (".p8", nil), ("ABC.pem", nil), ("AuthKey_A-B.p8", nil),
    ])
    func `a file's name tells the key's id`(name: String, keyID: String?) {
        #expect(KeyDirectory.keyID(ofFile: name) == keyID)
    }

    @Test func `the first key of a directory signs, the others stand by, and that outlasts a restart`() async throws {
        try write("AuthKey_BBB.p8")
        try write("CCC.p8")
        try Data("notes".utf8).write(to: folder.appending(path: "README"))
        let run = try await start()
        #expect(states(run) == ["BBB": .active, "CCC": .standby])
        #expect(try await run.active() == "BBB")
        #expect(fixture.audit.acts(.keyImported).allSatisfy { $0.actor == .daemon })
        try write("AuthKey_AAA.p8")
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["AAA": .standby, "BBB": .active, "CCC": .standby], "the one that signs goes on")
        let again = try await start()
        #expect(try await again.active() == "BBB")
    }

    @Test func `a start puts on record what directories have brought and lost since the one before, and nothing again`()
        async throws
    {
        func acts() -> [String] {
            fixture.audit.acts.filter { [.keyImported, .keyActivated, .keyDeleted].contains($0.action) }
                .map { "\($0.action.rawValue) \($0.keyID ?? "")" }
        }
        try write("AAA.p8")
        try write("BBB.p8")
        _ = try await start()
        let first = ["keyImported AAA", "keyImported BBB", "keyActivated AAA"]
        #expect(acts() == first)
        _ = try await start()
        #expect(acts() == first)
        try write("CCC.p8")
        try remove("AAA.p8")
        let run = try await start()
        #expect(try await run.active() == "BBB")
        let second = first + ["keyImported CCC", "keyDeleted AAA", "keyActivated BBB"]
        #expect(acts() == second)
        _ = try await start()
        #expect(acts() == second)
        // What was there before, and another private key under the same id, came as well.
        try write("AAA.p8")
        try write("BBB.p8")
        _ = try await start()
        #expect(acts() == second + ["keyImported AAA", "keyImported BBB"])
    }

    @Test func `a directory that the configuration names no more has taken its keys away`() async throws {
        try write("AAA.p8")
        _ = try await start()
        let run = try await fixture.start()
        #expect(states(run).isEmpty)
        #expect(fixture.audit.acts(.keyDeleted).map(\.keyID) == ["AAA"])
    }

    @Test func `a key is gone once its directory can be read, and not before`() async throws {
        try write("AAA.p8")
        try write("BBB.p8")
        _ = try await start()
        let elsewhere = fixture.files.folder.appending(path: "elsewhere")
        try FileManager.default.moveItem(at: folder, to: elsewhere)
        let run = try await start()
        #expect(fixture.audit.acts(.keyDeleted).isEmpty)
        try FileManager.default.moveItem(at: elsewhere, to: folder)
        try remove("AAA.p8")
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["BBB": .active])
        #expect(fixture.audit.acts(.keyDeleted).map(\.keyID) == ["AAA"])
        #expect(fixture.audit.acts(.keyImported).map(\.keyID) == ["AAA", "BBB"], "BBB was there all the time")
    }

    @Test func `a directory's key signs nothing before its import is on record`() async throws {
        try write("AAA.p8")
        fixture.audit.fail()
        let run = try await start()
        #expect(states(run).isEmpty)
        await #expect(throws: ServiceError(.keyUnavailable, "")) { try await run.active() }
        #expect(await run.custodian.overview().directoryProblems == ["key AAA waits until the audit can record it"])
        await run.custodian.lookAtDirectories()
        #expect(fixture.log.lines("is not used").count == 1, "told once")
        fixture.audit.fail(false)
        await run.custodian.lookAtDirectories()
        #expect(try await run.active() == "AAA")
        #expect(await run.custodian.overview().directoryProblems.isEmpty)
        #expect(fixture.audit.acts.map(\.action) == [.keyImported, .keyActivated, .tokenMinted])
    }

    @Test func `another private key under an id that is known needs a record as well`() async throws {
        try write("AAA.p8")
        let run = try await start()
        func fingerprint() async -> String? { await run.custodian.overview().keys.first?.facts.fingerprint }
        let before = await fingerprint()
        try write("AAA.p8")
        fixture.audit.fail()
        await run.custodian.lookAtDirectories()
        #expect(await fingerprint() == before && states(run) == ["AAA": .active], "the one before goes on")
        #expect(await !run.custodian.overview().directoryProblems.isEmpty)
        fixture.audit.fail(false)
        await run.custodian.lookAtDirectories()
        await run.custodian.lookAtDirectories()
        let after = await fingerprint()
        #expect(before != after)
        #expect(fixture.audit.acts(.keyImported).map { $0.details["fingerprint"] } == [before, after])
    }

    @Test func `a key that goes is replaced by the next, and one that comes stands by`() async throws {
        try write("AAA.p8")
        let run = try await start()
        let held = try run.minter.token(for: CustodianFixture.coins)
        #expect(held.keyID == "AAA")
        try write("BBB.p8")
        try remove("AAA.p8")
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["BBB": .active])
        #expect(try await run.active() == "BBB")
        #expect(fixture.audit.acts(.keyDeleted).map(\.keyID) == ["AAA"])
    }

    @Test func `an operator activates and revokes keys of a directory, and a file brings no revoked one back`()
        async throws
    {
        try write("AAA.p8")
        try write("BBB.p8")
        let run = try await start()
        _ = try await run.custodian.activate("BBB", apps: nil, unchecked: false, by: mara)
        #expect(states(run) == ["AAA": .retired, "BBB": .active])
        _ = try await run.custodian.activate("AAA", apps: nil, unchecked: false, by: mara)
        _ = try await run.custodian.revoke("BBB", by: mara)
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["AAA": .active, "BBB": .revoked])
        let again = try await start()
        #expect(states(again) == ["AAA": .active, "BBB": .revoked])
        await #expect(throws: ServiceError(.keyConflict, "")) { try await again.custodian.delete("BBB", by: mara) }
    }

    @Test func `what the configuration and imports have is refused by name, and so is what others can read`()
        async throws
    {
        let declared = try fixture.files.key("OLD").declaration
        try write("OLD.p8")
        try write("OPEN.p8", mode: 0o644)
        try write("TWICE.p8")
        try write("AuthKey_TWICE.p8")
        try write("no id.p8")
        try Data("nonsense".utf8).write(to: folder.appending(path: "BAD.p8"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.appending(path: "BAD.p8").path)
        let run = try await start([declared])
        #expect(states(run) == ["OLD": .active, "TWICE": .standby])
        let problems = await run.custodian.overview().directoryProblems
        for text in [
            "OLD.p8: there is a key OLD already", "chmod 0400", "TWICE.p8 is key TWICE already", "tells no key id",
            "BAD.p8: not PEM",
        ] {
            #expect(problems.contains { $0.contains(text) }, "\(text)")
        }
        #expect(problems.count == 5)
        let told = fixture.log.lines.count { $0.message.contains("not used") }
        await run.custodian.lookAtDirectories()
        #expect(fixture.log.lines.count { $0.message.contains("not used") } == told, "told once")
    }

    @Test func `a mounted secret of Kubernetes is swapped without a moment without a key`() async throws {
        // As the kubelet does it: files are links into ..data, which is a link that is turned.
        func version(_ name: String, _ keys: [String]) throws {
            let target = folder.appending(path: name)
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
            for key in keys { try write("\(key).p8", in: target) }
        }
        func turn(to name: String) throws {
            let fresh = folder.appending(path: "..data_tmp").path
            try FileManager.default.createSymbolicLink(atPath: fresh, withDestinationPath: name)
            #expect(rename(fresh, folder.appending(path: "..data").path) == 0)
        }
        func link(_ key: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: "\(key).p8").path, withDestinationPath: "..data/\(key).p8")
        }
        try version("..1", ["AAA"])
        try turn(to: "..1")
        try link("AAA")
        let run = try await start()
        #expect(states(run) == ["AAA": .active])
        try version("..2", ["AAA", "BBB"])
        try turn(to: "..2")
        try link("BBB")
        try FileManager.default.removeItem(at: folder.appending(path: "..1"))
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["AAA": .active, "BBB": .standby])
        try version("..3", ["BBB"])
        try turn(to: "..3")
        // The link of the key that went is dangling for a moment: the key goes on.
        await run.custodian.lookAtDirectories()
        #expect(try await run.active() == "AAA")
        try remove("AAA.p8")
        await run.custodian.lookAtDirectories()
        #expect(states(run) == ["BBB": .active])
    }

    @Test func `a directory that cannot be read leaves its keys as they are`() async throws {
        try write("AAA.p8")
        let run = try await start()
        let elsewhere = fixture.files.folder.appending(path: "elsewhere")
        try FileManager.default.moveItem(at: folder, to: elsewhere)
        await run.custodian.lookAtDirectories()
        #expect(try await run.active() == "AAA")
        #expect(await run.custodian.overview().directoryProblems.contains { $0.contains("cannot be read") })
        try FileManager.default.moveItem(at: elsewhere, to: folder)
        await run.custodian.lookAtDirectories()
        #expect(await run.custodian.overview().directoryProblems.isEmpty)
    }
}
