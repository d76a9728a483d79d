import Domain
import Foundation
import KeyCustody
import Testing

struct KeyFileTests {
    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o601, 0o777])
    func `a key that others can get at is refused with the chmod to run`(mode: Int) throws {
        let fixture = try KeyFixture()
        let declaration = try fixture.key(mode: mode).declaration
        do {
            _ = try KeyFile.load(declaration)
            Issue.record("loaded")
        } catch {
            #expect(error.problem.contains("chmod 0400 \(declaration.path)"), "\(error)")
        }
        #expect(KeyFile.permissionProblem(declaration) != nil)
    }

    @Test(arguments: [0o600, 0o400])
    func `a key of the owner alone is taken`(mode: Int) throws {
        let fixture = try KeyFixture()
        _ = try KeyFile.load(try fixture.key(mode: mode).declaration)
    }

    @Test(arguments: [KeyDeclaration.Source.credential, .file(allowsGroupRead: true)])
    func `a credential, or a key that the operator says so of, may be readable by the group but no more`(
        source: KeyDeclaration.Source
    ) throws {
        let fixture = try KeyFixture()
        _ = try KeyFile.load(try fixture.key("A", mode: 0o440, source: source).declaration)
        for mode in [0o460, 0o444, 0o450] {
            let declaration = try fixture.key("B", mode: mode, source: source).declaration
            #expect(throws: KeyFileError.self) { try KeyFile.load(declaration) }
        }
    }

    @Test func `a missing file, a folder, a large file and something that is no key are told apart`() throws {
        let fixture = try KeyFixture()
        func problem(_ declaration: KeyDeclaration) -> String {
            do {
                _ = try KeyFile.load(declaration)
                return ""
            } catch {
                return error.problem
            }
        }
        let missing = KeyDeclaration(
            keyID: "A", issuerID: "i", path: fixture.folder.appending(path: "none").path,
            source: .file(allowsGroupRead: false), state: .active, apps: [])
        #expect(problem(missing).contains("No such file"))
        let folder = KeyDeclaration(
            keyID: "A", issuerID: "i", path: fixture.folder.path, source: .file(allowsGroupRead: false), state: .active,
            apps: [])
        #expect(problem(folder).contains("not a regular file"))
        #expect(problem(try fixture.file("B", Data(count: KeyFacts.maximumFileBytes + 1))).contains("larger than"))
        let certificate = Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        #expect(problem(try fixture.file("C", certificate)).contains("certificate"))
    }

    @Test func `retired and revoked keys are listed but never read`() throws {
        let fixture = try KeyFixture()
        let gone = KeyDeclaration(
            keyID: "OLD", issuerID: "i", path: "/nowhere", source: .credential, state: .revoked, apps: ["coins"])
        let ring = try KeyRing(loading: [try fixture.key("NEW").declaration, gone])
        #expect(ring.statuses.map(\.keyID) == ["NEW", "OLD"])
        #expect(ring.statuses.map(\.state) == [.active, .revoked])
        #expect(ring.statuses.map(\.source) == ["file", "credential"])
    }
}
