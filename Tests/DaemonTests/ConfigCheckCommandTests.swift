import Daemon
import Foundation
import OpenSSL
import Testing

/// The command `purser config check`, on real files.
struct ConfigCheckCommandTests {
    /// A folder with a configuration, a key and a root certificate that are all in order, until a test changes one.
    private struct Folder: ~Copyable {
        let url = FileManager.default.temporaryDirectory.appending(path: "purser-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            let key = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Data($0) }
            try write("coins.p8", key, mode: 0o600)
            let now = Date.now
            let root = try CertificateBuilder.authority("Root", notBefore: now, notAfter: now.addingTimeInterval(60))
                .selfSigned(by: IssuingKey(generating: .p256))
            try write("root.cer", Data(root.der))
            try write("ca.pem", Data(try root.pem().utf8))
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

        func write(_ name: String, _ content: Data, mode: Int = 0o644) throws {
            try content.write(to: url.appending(path: name))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        }

        func check(keySource: String? = nil, environment: [String: String] = [:]) throws -> CommandOutcome {
            let yaml = """
                store: sqlite:/var/lib/purser/purser.db
                apple:
                  rootCertificates: [\(path("root.cer"))]
                  certificateAuthorityFile: \(path("ca.pem"))
                apps:
                  coins: { bundleId: com.example.coins, environments: [Sandbox] }
                keys:
                  - id: A1
                    issuer: 57246542-96fe-1a63-e053-0824d011072a
                    \(keySource ?? "file: \(path("coins.p8"))")
                    apps: [coins]
                """
            try write("purser.yaml", Data(yaml.utf8))
            return ConfigCheckCommand.run(file: path("purser.yaml"), environment: environment)
        }
    }

    @Test func aValidConfigurationIsSummedUpAndItsWarningsAreShown() throws {
        let folder = try Folder()
        let outcome = try folder.check(keySource: "file: \(folder.path("coins.p8"))\n    state: standby")
        #expect(outcome.status == .success)
        #expect(outcome.output.hasSuffix("purser.yaml is valid: apps 1, keys 1, callers 0, upstream Apple.\n"))
        #expect(outcome.errorOutput.hasPrefix("warning: "))
        #expect(outcome.errorOutput.contains("apps.coins"))
    }

    @Test func aConfigurationThatIsWrongInItselfIsReportedLineByLine() throws {
        let folder = try Folder()
        let outcome = try folder.check(keySource: "fiel: /a.p8")
        #expect(outcome.status == .configuration)
        #expect(outcome.output.isEmpty)
        let file = folder.path("purser.yaml")
        let lines = outcome.errorOutput.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("\(file):8:5: keys[0]: The key needs either `file`") == true)
        #expect(lines.last == "\(file):10:5: keys[0].fiel: Unknown key. Did you mean `file`?")
    }

    @Test func everyFileThatCannotBeUsedIsNamedAtItsLine() throws {
        let folder = try Folder()
        try FileManager.default.removeItem(atPath: folder.path("coins.p8"))
        try folder.write("root.cer", Data("no certificate".utf8))
        try FileManager.default.removeItem(atPath: folder.path("ca.pem"))
        let outcome = try folder.check()
        #expect(outcome.status == .configuration)
        #expect(outcome.errorOutput.contains("purser.yaml:3:22: apple.rootCertificates[0]: "))
        #expect(outcome.errorOutput.contains("purser.yaml:4:29: apple.certificateAuthorityFile: "))
        #expect(outcome.errorOutput.contains("purser.yaml:10:11: keys[0].file: "))
    }

    @Test func aKeyThatOthersCanReadIsRefusedWithTheCommandThatMendsIt() throws {
        let folder = try Folder()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("coins.p8"))
        let outcome = try folder.check()
        #expect(outcome.status == .configuration)
        #expect(outcome.errorOutput.contains("chmod 0400 \(folder.path("coins.p8"))"))
    }

    @Test func aKeyOfTheWrongKindIsRefused() throws {
        let folder = try Folder()
        let certificate = try Data(contentsOf: folder.url.appending(path: "ca.pem"))
        try folder.write("coins.p8", certificate, mode: 0o600)
        let outcome = try folder.check()
        #expect(outcome.status == .configuration)
        #expect(outcome.errorOutput.contains("keys[0].file: "))
        #expect(!outcome.errorOutput.contains("BEGIN"))
    }

    @Test func aCredentialIsOnlyCheckedWhereSystemdProvidesIt() throws {
        let folder = try Folder()
        let outside = try folder.check(keySource: "credential: purser-test-credential.p8")
        #expect(outside.status == .success)
        #expect(
            outside.errorOutput.contains("keys[0].credential: A credential exists only while systemd runs the unit"))
        let directory = ["CREDENTIALS_DIRECTORY": folder.url.path(percentEncoded: false)]
        #expect(try folder.check(keySource: "credential: coins.p8", environment: directory).status == .success)
        let missing = try folder.check(keySource: "credential: gems.p8", environment: directory)
        #expect(missing.status == .configuration)
        #expect(missing.errorOutput.contains("purser.yaml:10:17: keys[0].credential: "))
    }
}
