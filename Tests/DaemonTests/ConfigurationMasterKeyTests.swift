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
