import Daemon
import Domain
import Foundation
import KeyCustody
import OpenSSL
import Testing

struct ConfigurationMasterKeyTests {
    private func source(_ section: String, _ environment: [String: String] = [:]) throws -> MasterKeySource {
        try ConfigurationFixture.configuration(ConfigurationFixture.minimal + section, environment: environment)
            .masterKey
    }

    @Test func `without one the daemon keeps its own beside the store, under a name that is not the store's`() throws {
        #expect(try source("") == .made(path: "/var/lib/purser/purser.masterkey"))
        #expect(try source("", ["PURSER_STORE": "sqlite:/data/store"]) == .made(path: "/data/store.masterkey"))
    }

    @Test func `a file, a credential, and the variable over both`() throws {
        #expect(try source("masterKey: { file: /k }") == .file(path: "/k", allowsGroupRead: false))
        #expect(
            try source("masterKey: { file: /k, allowGroupReadable: true }") == .file(path: "/k", allowsGroupRead: true))
        #expect(
            try source("masterKey: { credential: master-key }", ["CREDENTIALS_DIRECTORY": "/run/c"])
                == .credential(path: "/run/c/master-key"))
        #expect(
            try source("masterKey: { file: /k }", ["PURSER_MASTER_KEY_FILE": "/e"])
                == .file(path: "/e", allowsGroupRead: false))
    }

    @Test(arguments: [
        ("masterKey: { file: k }", "14 masterKey.file"),
        ("masterKey: { file: /k, credential: c }", "14 masterKey"),
        ("masterKey: { credential: c, allowGroupReadable: true }", "14 masterKey.allowGroupReadable"),
        ("masterKey: { allowGroupReadable: true }", "14 masterKey.allowGroupReadable"),
        ("masterKey: { credential: ../c }", "14 masterKey.credential"),
        ("masterKey: { key: \"00\" }", "14 masterKey.key"),
    ])
    func `what cannot be meant is named`(section: String, place: String) {
        #expect(ConfigurationFixture.places(ConfigurationFixture.minimal + section) == [place])
    }

    @Test func `config check reads the master key, and makes none`() throws {
        let installation = try DaemonInstallation()
        let check = { ConfigCheckCommand.run(file: installation.file, environment: [:]) }
        #expect(check().status == .success)
        #expect(!FileManager.default.fileExists(atPath: installation.path("purser.masterkey")))
        try Data("0123".utf8).write(to: URL(filePath: installation.path("purser.masterkey")))
        #expect(check().status == .configuration && check().errorOutput.contains("purser.masterkey"))
    }
}

struct ConfigurationKeyDirectoryTests {
    private func configuration(_ section: String) throws -> DaemonConfiguration {
        try ConfigurationFixture.configuration(ConfigurationFixture.minimal + section)
    }

    @Test func `a directory says for its keys what their names cannot`() throws {
        let directories = try configuration(
            """
            keyDirectories:
              - path: /etc/purser/keys
                issuer: 57246542-96fe-1a63-e053-0824d011072a
                allowGroupReadable: true
                apps: [coins]
            """
        ).keyDirectories
        #expect(
            directories == [
                KeyDirectory(
                    path: "/etc/purser/keys", issuerID: "57246542-96fe-1a63-e053-0824d011072a", apps: ["coins"],
                    allowsGroupRead: true)
            ])
    }

    @Test func `every fault of a directory is named with its line`() {
        let places = ConfigurationFixture.places(
            ConfigurationFixture.minimal + """
                keyDirectories:
                  - path: keys
                    issuer: nobody
                    apps: [others]
                  - { path: /a, issuer: 57246542-96fe-1a63-e053-0824d011072a, apps: [coins] }
                  - { path: /a, issuer: 57246542-96fe-1a63-e053-0824d011072a, apps: [] }
                  - { apps: [coins], state: active }
                """)
        #expect(
            places == [
                "15 keyDirectories[0].path", "16 keyDirectories[0].issuer", "17 keyDirectories[0].apps[0]",
                "19 keyDirectories[2].apps", "19 keyDirectories[2].path", "20 keyDirectories[3].path",
                "20 keyDirectories[3].issuer", "20 keyDirectories[3].state",
            ])
    }

    @Test func `an app without a declared key is warned of, unless keys come from directories`() throws {
        let standby = ConfigurationFixture.minimal.replacing(
            "apps: [coins]\n#", with: "apps: [coins]\n    state: standby\n#")
        let warned = try ConfigurationFixture.configuration(standby)
        #expect(warned.warnings.contains { $0.message.contains("no active key here") })
        let directory = "keyDirectories: [{ path: /a, issuer: 57246542-96fe-1a63-e053-0824d011072a, apps: [coins] }]\n"
        let served = try ConfigurationFixture.configuration(standby + directory)
        #expect(!served.warnings.contains { $0.message.contains("no active key") })
        let other = try ConfigurationFixture.configuration(
            standby.replacing(
                "apps:\n", with: "apps:\n  gems: { bundleId: com.example.gems, environments: [Sandbox] }\n")
                + directory.replacing("[coins]", with: "[gems]"))
        #expect(
            other.warnings.filter { $0.message.contains("no active key here") }.map(\.key) == ["apps.coins"],
            "a directory serves the apps that it names")
    }

    @Test func `what is said of keys can be set and switched off`() throws {
        #expect(try configuration("").keyWarnings.maximumAge == .seconds(365 * 86_400))
        let policy = try configuration("keyWarnings: { maximumAge: 30d, unusedFor: off }").keyWarnings
        #expect(policy == KeyWarningPolicy(maximumAge: .seconds(30 * 86_400), unusedFor: nil))
        #expect(
            ConfigurationFixture.places(ConfigurationFixture.minimal + "keyWarnings: { maximumAge: 1h }")
                == ["14 keyWarnings.maximumAge"])
    }

    @Test func `config check names what is wrong with a directory, which stops no start`() throws {
        let installation = try DaemonInstallation()
        let text = try String(contentsOfFile: installation.file, encoding: .utf8)
        let folder = installation.path("keys")
        let section = """
            keyDirectories:
              - { path: \(folder), issuer: 57246542-96fe-1a63-e053-0824d011072a, apps: [coins] }

            """
        try Data((text + section).utf8).write(to: URL(filePath: installation.file))
        let missing = ConfigCheckCommand.run(file: installation.file, environment: [:])
        #expect(missing.status == .success && missing.errorOutput.contains("\(folder): cannot be read"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("nonsense".utf8).write(to: URL(filePath: "\(folder)/AAA.p8"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/AAA.p8")
        let open = ConfigCheckCommand.run(file: installation.file, environment: [:])
        #expect(open.status == .success && open.errorOutput.contains("keyDirectories[0].path"))
        #expect(open.errorOutput.contains("chmod 0400"))
    }
}
