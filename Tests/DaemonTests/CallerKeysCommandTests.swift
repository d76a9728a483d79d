import Daemon
import Foundation
import Testing

/// `purser callers list`, `issue-key` and `revoke` without a daemon; with one they are tested in IntegrationTests.
struct CallerKeysCommandTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "callers-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func command(_ socket: URL) -> CallerKeysCommand {
        CallerKeysCommand(daemon: Self.daemon(socket))
    }

    private static func daemon(_ socket: URL) -> RunningDaemon {
        RunningDaemon(file: "/nowhere.yaml", socket: socket.path, environment: [:])
    }

    @Test func withoutADaemonEachSaysSoAndNoKeyIsLeftBehind() async throws {
        try await withFolder { folder in
            let socket = folder.appending(path: "admin.sock")
            let file = folder.appending(path: "key.p8")
            let command = command(socket)
            let callers = CallersAdministrationCommand(daemon: Self.daemon(socket))
            for outcome in [
                await callers.list(), await callers.revoke("shop", "ABCDEFGHIJ"), await callers.add("shop", .init()),
                await callers.show("shop"), await callers.rotate("shop", graceSeconds: 0, expiresInSeconds: nil),
                await callers.grant("shop", app: "coins", scopes: ["refunds:read"], isWithdrawn: false),
                await callers.bind("shop", kind: "uid", value: "1000", isEnded: true), await callers.remove("shop"),
                await command.issue(caller: "shop", app: "coins", scopes: ["refunds:read"], to: file.path),
            ] {
                #expect(outcome.status == .failure)
                #expect(outcome.output.isEmpty)
                #expect(outcome.errorOutput.hasPrefix("No daemon answers at unix:\(socket.path)"))
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.isEmpty)
        }
    }

    @Test func aFileThatExistsIsNotTouched() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "key.p8")
            try Data("precious".utf8).write(to: file)
            let outcome = await command(folder.appending(path: "admin.sock"))
                .issue(caller: "shop", app: "coins", scopes: ["refunds:read"], to: file.path)
            #expect(outcome.status == .failure)
            #expect(outcome.errorOutput.contains("\(file.path): it exists"))
            #expect(try Data(contentsOf: file) == Data("precious".utf8))
        }
    }

    @Test func aConfigurationThatCannotBeReadEndsWith78() async {
        let command = CallersAdministrationCommand(
            daemon: RunningDaemon(file: "/nowhere.yaml", socket: nil, environment: [:]))
        let outcome = await command.list()
        #expect(outcome.status == .configuration)
        #expect(outcome.errorOutput.contains("/nowhere.yaml"))
    }

    @Test func aConfigurationWithoutAnAdminListenerIsNamed() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "purser.yaml")
            let yaml = ConfigurationFixture.minimal + "listeners: { admin: { address: none } }\n"
            try Data(yaml.utf8).write(to: file)
            let outcome = await CallersAdministrationCommand(
                daemon: RunningDaemon(file: file.path, socket: nil, environment: [:])
            )
            .list()
            #expect(outcome.status == .failure)
            #expect(outcome.errorOutput.contains("\(file.path) switches the admin listener off"))
        }
    }
}
