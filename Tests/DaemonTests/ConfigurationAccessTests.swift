import Foundation
import KeyCustody
import Listener
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// Who may own secret files, and who may use the operators' sockets.
struct ConfigurationAccessTests {
    private let minimal = ConfigurationFixture.minimal

    private func problems(_ section: String) -> [ConfigurationProblem] {
        ConfigurationFixture.problems(minimal + section)
    }

    @Test func `owners of secret files are named once, by number or name, for keys, directories and the master key`()
        throws
    {
        let yaml = """
            secretFiles: { allowedOwners: [65534, root] }
            keyDirectories:
              - { path: /a, issuer: 57246542-96fe-1a63-e053-0824d011072a, apps: [coins] }
            """
        let configuration = try ConfigurationFixture.configuration(minimal + yaml)
        #expect(configuration.secretFiles.allowed.isSuperset(of: [65534, 0]))
        #expect(configuration.secretFiles.user == geteuid())
        #expect(configuration.keys.allSatisfy { $0.owners == configuration.secretFiles })
        #expect(configuration.keyDirectories.map(\.owners) == [configuration.secretFiles])
    }

    @Test func `owners that this machine does not know are refused`() {
        let found = problems("secretFiles: { allowedOwners: [no-such-user-here, \"-1\", root, root], owner: a }\n")
        #expect(
            found.map(\.key) == [
                "secretFiles.allowedOwners[0]", "secretFiles.allowedOwners[1]", "secretFiles.allowedOwners[3]",
                "secretFiles.owner",
            ])
        #expect(problems("secretFiles: { allowedOwners: 5 }\n").map(\.key) == ["secretFiles.allowedOwners"])
    }

    @Test(.enabled(if: geteuid() == 0))
    func `for a command of root's the owner of the state directory is the daemon's user`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-state-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(chown(folder.path, 4242, 4242) == 0)
        let yaml = minimal.replacing("/var/lib/purser/purser.db", with: "\(folder.path)/purser.db")
        #expect(try ConfigurationFixture.configuration(yaml).secretFiles.allowed == [4242])
    }

    @Test(arguments: ["admin", "grpcAdmin"], ["0666", "0662", "0664", "0661", "0777"])
    func `an operators' socket that everybody can use is refused, unless that is confirmed`(
        listener: String, mode: String
    ) throws {
        let socket = "address: \"unix:/run/purser/a.sock\", mode: \"\(mode)\""
        let found = problems("listeners: { \(listener): { \(socket) } }\n")
        #expect(found.map(\.key) == ["listeners.\(listener).mode"])
        #expect(found.first?.message.contains("`allowEverybody: true`") == true)
        let confirmed = "listeners: { \(listener): { \(socket), allowEverybody: true } }\n"
        #expect(problems(confirmed) == [])
        let settings = try ConfigurationFixture.configuration(minimal + confirmed).listeners[listener]
        #expect(settings?.allowsEverybody == true)
        #expect(problems("listeners: { \(listener): { \(socket), allowEverybody: false } }\n").count == 1)
    }

    @Test func `other modes, and the sockets of callers, need no confirmation`() {
        for mode in ["0600", "0660", "0640"] {
            #expect(problems("listeners: { admin: { address: \"unix:/a\", mode: \"\(mode)\" } }\n") == [])
        }
        #expect(problems("listeners: { api: { address: \"unix:/a\", mode: \"0666\" } }\n") == [])
        #expect(
            problems("listeners: { api: { address: \"unix:/a\", allowEverybody: true } }\n").map(\.key)
                == ["listeners.api.allowEverybody"])
        let variables = ["PURSER_LISTENERS_ADMIN_MODE": "0666"]
        #expect(
            ConfigurationFixture.problems(minimal, environment: variables).map(\.key) == ["listeners.admin.mode"])
    }

    @Test func `a socket that systemd opened for everybody is not taken for the operators'`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "s-\(UUID().uuidString.prefix(8))").path
        let socket = try UnixSocket.bound(to: path)
        defer {
            close(socket)
            unlink(path)
        }
        func take(_ name: String, everybody: Bool = false) throws(InheritedListeners.Problem) {
            let settings = ListenerSettings(address: .unix(path: path, mode: 0o600), allowsEverybody: everybody)
            _ = try InheritedListeners(
                [InheritedSocket(name: name, descriptor: socket)],
                for: ListenersConfiguration(api: settings, admin: settings))
        }
        #expect(chmod(path, 0o666) == 0)
        let problem = #expect(throws: InheritedListeners.Problem.self) { try take("admin") }
        #expect(problem?.description.contains("SocketMode=0600") == true)
        #expect(throws: Never.self) { try take("admin", everybody: true) }
        #expect(throws: Never.self) { try take("api") }
        #expect(chmod(path, 0o660) == 0)
        #expect(throws: Never.self) { try take("admin") }
    }
}
