import Foundation
import GRDB
import OpenSSL
import TestSupport
import Testing

/// A database that a newer version has written is left alone.
struct NewerDatabaseTests {
    @Test func `the program names the migration that it does not know, changes nothing and exits with 78`() async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-newer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = try CertificateBuilder.authority(
            "Root", notBefore: Date(timeIntervalSince1970: 0), notAfter: Date(timeIntervalSince1970: 4_000_000_000)
        ).selfSigned(by: IssuingKey(generating: .p256))
        try Data(root.der).write(to: folder.appending(path: "root.cer"))
        let file = folder.appending(path: "purser.db")
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(sql: try ReleaseBefore.statements())
            try database.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999 from the future')")
        }
        try queue.close()
        let before = try Data(contentsOf: file)
        let yaml = folder.appending(path: "purser.yaml")
        try Data(
            """
            store: sqlite:\(file.path)
            apple: { rootCertificates: [\(folder.path)/root.cer] }
            apps: { coins: { bundleId: com.example.coins, environments: [Sandbox] } }
            listeners:
              api: { address: "127.0.0.1:0" }
              webhook: { address: none }
              admin: { address: none }
              health: { address: none }

            """.utf8
        ).write(to: yaml)
        let daemon = try DaemonProcess(["serve", "--config", yaml.path])
        #expect(try await daemon.process.ended == 78)
        #expect(try await !daemon.isReady)
        #expect(daemon.log.text.contains("9999 from the future"), "\(daemon.log.text)")
        #expect(daemon.log.text.contains("newer version"))
        #expect(try Data(contentsOf: file) == before)
    }
}
