import Foundation
import Testing

@testable import Postgres

struct PostgresConfigurationTests {
    @Test func `a URL names server, database and user`() throws {
        let configuration = try PostgresConfiguration(url: "postgres://purser@db.example.com:5433/store")
        #expect(configuration.host == "db.example.com" && configuration.port == 5433)
        #expect(configuration.database == "store" && configuration.user == "purser")
        #expect(!configuration.isLocalSocket)
    }

    @Test func `a folder is a Unix socket`() throws {
        let configuration = try PostgresConfiguration(url: "postgres://purser@/store?host=/run/postgresql")
        #expect(configuration.host == "/run/postgresql" && configuration.port == 5432 && configuration.isLocalSocket)
        #expect(try configuration.parameters().contains { $0 == ("sslmode", "disable") })
    }

    @Test func `over a network the server proves who it is, and nothing of the environment counts`() throws {
        let configuration = try PostgresConfiguration(
            url: "postgres://purser@db/store?sslmode=verify-full&sslrootcert=/etc/db.pem")
        let parameters = try configuration.parameters()
        #expect(parameters.contains { $0 == ("sslmode", "verify-full") })
        #expect(parameters.contains { $0 == ("sslrootcert", "/etc/db.pem") })
        #expect(parameters.contains { $0 == ("passfile", "/dev/null/none") })
        #expect(!parameters.contains { $0.name == "password" })
    }

    @Test(
        "A URL that cannot be meant is refused, with what is wrong",
        arguments: [
            ("mysql://a@b/c", "no URL that begins with postgres"), ("postgres://a:secret@b/c", "password"),
            ("postgres://a@b/c?sslmode=require", "sslmode"),
            ("postgres://a@b/c?target=1", "not host, sslmode or sslrootcert"),
            ("postgres://b/c", "no user"), ("postgres://a@b", "no database"), ("postgres://a@b/c/d", "no database"),
            ("postgres://a@/c", "no host"), ("postgres://a@b/c?host=/run", "or two"),
        ])
    func refused(url: String, reason: String) {
        let error = #expect(throws: PostgresConfiguration.Malformed.self) { try PostgresConfiguration(url: url) }
        #expect(error?.reason.contains(reason) == true)
        #expect(error?.reason.contains("secret") == false)
    }

    @Test func `no password is looked for that was not given, nor is anything said of that`() throws {
        let parameters = try PostgresConfiguration(host: "/run", database: "a", user: "b").parameters()
        #expect(!parameters.contains { $0.name == "password" })
        let file = try #require(parameters.first { $0.name == "passfile" }?.value)
        // libpq looks in the user's home without a name, and writes a line to the standard error for what is no plain file.
        #expect(!file.isEmpty && !FileManager.default.fileExists(atPath: file))
    }

    @Test func `a pipe in the place of the password file is refused without waiting`() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "purser-password-\(UUID().uuidString)").path
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        var configuration = PostgresConfiguration(host: "/run", database: "a", user: "b")
        configuration.passwordFile = pipe
        #expect(throws: PostgresError.self) { try configuration.parameters() }
    }

    @Test func `the password is a file's first line, and is missed where it is not`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "purser-password-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var configuration = PostgresConfiguration(host: "/run", database: "a", user: "b")
        configuration.passwordFile = file.path
        for text in [nil, "", "\nnext"] {
            if let text { try Data(text.utf8).write(to: file) }
            let error = #expect(throws: PostgresError.self) { try configuration.parameters() }
            #expect(error?.kind == .authentication)
        }
        try Data("open sesame\n".utf8).write(to: file)
        func allow(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
        try allow(0o644)
        let error = #expect(throws: PostgresError.self) { try configuration.parameters() }
        #expect(error?.description.contains("everybody") == true)
        try allow(0o640)
        #expect(try configuration.parameters().contains { $0 == ("password", "open sesame") })
    }
}
