import Domain
import Foundation
import KeyCustody
import OpenSSL
import TestSupport
import Testing

/// Keys that another configuration brings while the daemon runs.
struct KeyReloadTests {
    private let fixture: CustodianFixture
    private let folder: URL

    init() throws {
        fixture = try CustodianFixture()
        folder = fixture.files.folder.appending(path: "keys")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    private var directory: KeyDirectory {
        KeyDirectory(path: folder.path, issuerID: CustodianFixture.issuer, apps: ["coins"], allowsGroupRead: false)
    }

    private func replacement(
        _ declarations: [KeyDeclaration], directories: [KeyDirectory] = []
    ) throws -> KeyCustodian.Replacement {
        try KeyCustodian.Replacement(
            loading: declarations, directories: directories,
            warnings: KeyWarningPolicy(maximumAge: nil, unusedFor: nil))
    }

    @Test func `keys come, go and change all at once, and what goes with them is changed with them`() async throws {
        let (old, gone) = (try fixture.files.key("OLD"), try fixture.files.key("GONE", state: .standby))
        let run = try await fixture.start([old.declaration, gone.declaration])
        _ = try run.minter.token(for: CustodianFixture.coins)
        let retired = KeyDeclaration(
            keyID: "OLD", issuerID: "issuer-1", path: old.declaration.path, source: .file(allowsGroupRead: false),
            state: .standby, apps: ["coins"])
        let new = try replacement([try fixture.files.key("NEW").declaration, retired])
        let ring = run.ring
        let change = try await run.custodian.replace(with: new) {
            #expect(ring.activeKeyID(for: CustodianFixture.coins) == "OLD", "nothing has changed yet")
        } swap: {
            #expect(ring.activeKeyID(for: CustodianFixture.coins) == "NEW")
        }
        #expect(change.part == "keys" && change.added == ["NEW"] && change.removed == ["GONE"])
        #expect(change.changed == ["OLD"])
        #expect(try await run.active() == "NEW")
        #expect(try await run.state("OLD") == .standby)
        await #expect(throws: ServiceError(.keyNotFound, "")) { try await run.custodian.key("GONE") }
    }

    @Test func `a token of a key that is another now under its id is not used again`() async throws {
        let run = try await fixture.start([try fixture.files.key("SAME").declaration])
        let old = try run.minter.token(for: CustodianFixture.coins)
        let same = try replacement([try fixture.files.key("SAME").declaration])
        _ = try await run.custodian.replace(with: same) {
        } swap: {
        }
        let new = try run.minter.token(for: CustodianFixture.coins)
        #expect(new.keyID == "SAME" && new.generation != old.generation)
        // Nothing is other than before: the token stays.
        _ = try await run.custodian.replace(with: same) {
        } swap: {
        }
        #expect(try run.minter.token(for: CustodianFixture.coins).generation == new.generation)
    }

    @Test func `what fails before leaves every key as it was`() async throws {
        let run = try await fixture.start([try fixture.files.key("OLD").declaration], directories: [directory])
        let new = try replacement([try fixture.files.key("NEW").declaration])
        await #expect(throws: ServiceError(.storeUnavailable, "")) {
            _ = try await run.custodian.replace(with: new) { () throws(ServiceError) in
                throw ServiceError(.storeUnavailable, "The disk is full.")
            } swap: {
                Issue.record("nothing may be swapped")
            }
        }
        #expect(try await run.active() == "OLD")
        #expect(run.ring.statuses.map(\.keyID) == ["OLD"])
        #expect(throws: KeyFileError.self) {
            try replacement([try fixture.files.file("BAD", Data("no key".utf8))])
        }
    }

    @Test func `a key that moves from the configuration to a directory signs all the while`() async throws {
        let declared = try fixture.files.key("MOVED")
        try FileManager.default.copyItem(
            at: URL(filePath: declared.declaration.path), to: folder.appending(path: "MOVED.p8"))
        let run = try await fixture.start([declared.declaration])
        let ring = run.ring
        let change = try await run.custodian.replace(with: try replacement([], directories: [directory])) {
        } swap: {
            #expect(ring.statuses.map(\.keyID) == ["MOVED"])
        }
        #expect(change.changed == ["MOVED"])
        #expect(try await run.active() == "MOVED")
        #expect(fixture.audit.acts(.keyImported).map(\.keyID) == ["MOVED"])
        // And back, with the directory gone from the configuration.
        _ = try await run.custodian.replace(with: try replacement([declared.declaration])) {
        } swap: {
        }
        #expect(try await run.active() == "MOVED")
        await run.custodian.lookAtDirectories()
        #expect(run.ring.statuses.map(\.source) == ["file"])
    }

    @Test
    func
        `what was imported stays, one that the configuration declares now is used from there, and what is revoked stays so`()
        async throws
    {
        let run = try await fixture.start([try fixture.files.key("OLD").declaration])
        for id in ["IMPORTED", "TAKEN", "REVOKED"] {
            _ = try await run.custodian.importKey(try fixture.request(id), by: CustodianFixture.operatorActor)
        }
        _ = try await run.custodian.revoke("REVOKED", by: CustodianFixture.operatorActor)
        let declarations = try [
            fixture.files.key("NEW"), fixture.files.key("TAKEN", state: .standby),
            fixture.files.key("REVOKED", state: .standby),
        ].map(\.declaration)
        let change = try await run.custodian.replace(with: try replacement(declarations)) {
        } swap: {
        }
        #expect(change.added == ["NEW", "REVOKED", "TAKEN"] && change.removed == ["OLD"])
        let sources = Dictionary(run.ring.statuses.map { ($0.keyID, $0.source) }) { first, _ in first }
        #expect(sources == ["IMPORTED": "imported", "NEW": "file", "REVOKED": "file", "TAKEN": "file"])
        #expect(try await run.state("REVOKED") == .revoked)
        #expect(try await run.active() == "NEW")
    }
}
