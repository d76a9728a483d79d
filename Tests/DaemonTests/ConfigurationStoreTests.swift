import Daemon
import Foundation
import Postgres
import Testing

/// Where the store is, and how the daemon gets in.
struct ConfigurationStoreTests {
    private static let key = "masterKey: { file: /etc/purser/master }\n"
    private static let url = "postgres://purser@db.example.com/store"

    private func configuration(
        _ store: String, _ sections: String = key, _ environment: [String: String] = [:]
    ) throws -> DaemonConfiguration {
        let variables = environment.merging(["PURSER_STORE": store]) { given, _ in given }
        return try ConfigurationFixture.configuration(ConfigurationFixture.minimal + sections, environment: variables)
    }

    private func complaint(_ store: String, _ sections: String = key) -> String {
        do {
            _ = try configuration(store, sections)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `a database of PostgreSQL's is named by a URL, and its password by a file`() throws {
        var expected = PostgresConfiguration(host: "db.example.com", database: "store", user: "purser")
        #expect(try configuration(Self.url).store == .postgres(expected))
        expected.passwordFile = "/etc/purser/password"
        let file = "storePassword: { file: /etc/purser/password }\n"
        #expect(try configuration(Self.url, Self.key + file).store == .postgres(expected))
        expected.passwordFile = "/run/c/database"
        let credential = "storePassword: { credential: database }\n"
        #expect(
            try configuration(Self.url, Self.key + credential, ["CREDENTIALS_DIRECTORY": "/run/c"]).store
                == .postgres(expected))
    }

    @Test func `what lies beside a file lies in the state folder`() throws {
        let audit = try configuration(Self.url).audit
        #expect(audit.directory == "/var/lib/purser/purser.audit")
        #expect(audit.reserveFile == "/var/lib/purser/purser.audit-reserve")
    }

    @Test func `the master key must be given`() {
        #expect(complaint(Self.url, "").contains("masterKey"))
        #expect(complaint("sqlite:/data/store", "") == "")
    }

    @Test func `what cannot be meant is named, and a password never`() {
        let password = complaint("postgres://purser:open-sesame@db/store")
        #expect(password.contains("PURSER_STORE") && !password.contains("sesame"))
        #expect(complaint("postgres://db/store").contains("postgres://db/store"))
        #expect(complaint("postgres://a@db/store?sslmode=require").contains("PURSER_STORE"))
        let both = "storePassword: { file: /p, credential: p }\n"
        #expect(complaint(Self.url, Self.key + both).contains("keep one"))
        #expect(complaint("sqlite:/data/store", "storePassword: { file: /p }\n").contains("storePassword.file"))
    }

    @Test func `config check looks whether the password can be read`() throws {
        let installation = try DaemonInstallation()
        let environment = [
            "PURSER_STORE": Self.url, "PURSER_MASTER_KEY_FILE": installation.path("master"),
            "PURSER_STORE_PASSWORD_FILE": installation.path("password"),
        ]
        try Data(String(repeating: "0a", count: 32).utf8).write(to: URL(filePath: installation.path("master")))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: installation.path("master"))
        let check = { ConfigCheckCommand.run(file: installation.file, environment: environment) }
        #expect(check().status == .configuration && check().errorOutput.contains("password cannot be read"))
        try Data("open sesame\n".utf8).write(to: URL(filePath: installation.path("password")))
        #expect(check().status == .success, "\(check().errorOutput)")
        #expect(!check().output.contains("sesame"))
    }
}
