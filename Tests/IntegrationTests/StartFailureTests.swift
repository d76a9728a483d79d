import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// What the program says and returns when it cannot start: one line of its log, and 78 where no further start would help.
struct StartFailureTests {
    /// A folder with a configuration in which nothing is wrong yet.
    private final class Installation {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-start-\(UUID().uuidString)")
        var store = "purser.db"
        var api = #"{ address: "127.0.0.1:0" }"#
        var others = ""
        /// Further settings of `apple`.
        var apple = ""

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let root = try CertificateBuilder.authority(
                "Root", notBefore: Date(timeIntervalSince1970: 0), notAfter: Date(timeIntervalSince1970: 4_000_000_000)
            ).selfSigned(by: IssuingKey(generating: .p256))
            try Data(root.der).write(to: file("root.cer"))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func file(_ name: String) -> URL { folder.appending(path: name) }

        /// A file that nobody else can read.
        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: file(name))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file(name).path)
        }

        /// Starts the program, which is to fail: its exit status, and the last lines of its log, each a JSON object.
        func failure() async throws -> (status: Int32, fatal: [String]) {
            try write(
                """
                store: sqlite:\(folder.path)/\(store)
                apple: { rootCertificates: ["\(folder.path)/root.cer"]\(apple) }
                apps: { coins: { bundleId: com.example.coins, environments: [Sandbox] } }
                listeners:
                  api: \(api)
                  webhook: { address: none }
                  admin: { address: none }
                  health: { address: none }
                \(others)
                """, to: "purser.yaml")
            let daemon = try DaemonProcess(["serve", "--config", file("purser.yaml").path])
            let status = try await daemon.process.ended
            #expect(try await !daemon.isReady)
            let lines = try daemon.log.text.split(separator: "\n").map { line in
                try #require(try? JSONValue(parsing: Array(line.utf8)), "\(line)")
            }
            let fatal = lines.filter { $0["level"]?.string == "critical" }.compactMap {
                $0["message"]?.string
            }
            for line in fatal {
                for dump in ["ServiceError", "Error(", "Domain", "NSCocoa", "Optional("] {
                    #expect(!line.contains(dump), "\(line)")
                }
            }
            return (status, fatal)
        }
    }

    @Test func `a key of another kind is named with its file, and no further start is worth while`() async throws {
        let installation = try Installation()
        let command = try ChildProcess(
            ["openssl", "genrsa", "-out", installation.file("key.p8").path, "2048"])
        #expect(try await command.ended == 0)
        installation.others = """
            keys:
              - id: ABCDEFGHIJ
                issuer: 57246542-96fe-1a63-e053-0824d011072a
                file: "\(installation.folder.path)/key.p8"
                apps: [coins]
            """
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        let line = try #require(failure.fatal.first)
        #expect(line.contains("ABCDEFGHIJ") && line.contains("key.p8") && line.contains("RSA"), "\(line)")
    }

    @Test func `a certificate that is not there is named`() async throws {
        let installation = try Installation()
        try FileManager.default.removeItem(at: installation.file("root.cer"))
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        #expect(failure.fatal.first?.contains("root.cer: cannot be read: No such file") == true, "\(failure.fatal)")
        #expect(failure.fatal.first?.contains("`apple.rootCertificates`") == true, "it says what to do")
    }

    @Test func `authorities that are not there are named, and not at each call alone`() async throws {
        let installation = try Installation()
        installation.apple = #", certificateAuthorityFile: "\#(installation.folder.path)/authorities.pem""#
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        let line = try #require(failure.fatal.first)
        #expect(line.contains("authorities.pem: cannot be read") && line.contains("`apple.certificateAuthorityFile`"))
    }

    @Test func `a certificate of a listener that is none is named`() async throws {
        let installation = try Installation()
        try installation.write("nothing", to: "chain.pem")
        try installation.write("nothing", to: "key.pem")
        let path = installation.folder.path
        installation.api = """
            { address: "127.0.0.1:0", tls: { certificateChain: "\(path)/chain.pem", privateKey: "\(path)/key.pem" } }
            """
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        #expect(failure.fatal.first?.contains("chain.pem") == true, "\(failure.fatal)")
    }

    @Test func `every problem of a configuration is a line of the log`() async throws {
        let installation = try Installation()
        installation.others = "shutdown: { timeout: soon }\nnonsense: 1"
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 2)
        let text = failure.fatal.joined(separator: "\n")
        #expect(
            text.contains("purser.yaml:9:22: shutdown.timeout: ") && text.contains("nonsense: Unknown key"), "\(text)")
    }

    @Test func `a master key that is not there is named, with what names it`() async throws {
        let installation = try Installation()
        installation.others = #"masterKey: { file: "\#(installation.folder.path)/nowhere" }"#
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        let line = try #require(failure.fatal.first)
        #expect(line.contains("nowhere: cannot open: No such file") && line.contains("`masterKey`"), "\(line)")
    }

    @Test func `a file that is no database is named, with what to do`() async throws {
        let installation = try Installation()
        try installation.write(String(repeating: "no database ", count: 100), to: "purser.db")
        let failure = try await installation.failure()
        #expect(failure.status == 1 && failure.fatal.count == 1)
        let line = try #require(failure.fatal.first)
        #expect(line.contains("purser.db") && line.contains("purser restore"), "\(line)")
    }

    @Test func `a store whose folder is missing may be there at the next start`() async throws {
        let installation = try Installation()
        installation.store = "missing/purser.db"
        let failure = try await installation.failure()
        #expect(failure.status == 1 && failure.fatal.count == 1)
        #expect(failure.fatal.first?.contains("missing") == true, "\(failure.fatal)")
    }

    @Test func `a file in the place of a socket is named`() async throws {
        let installation = try Installation()
        try installation.write("no socket", to: "api.sock")
        installation.api = #"{ address: "unix:\#(installation.folder.path)/api.sock" }"#
        let failure = try await installation.failure()
        #expect(failure.status == 78 && failure.fatal.count == 1)
        #expect(failure.fatal.first?.contains("a file that is not a socket is in the way") == true, "\(failure.fatal)")
    }
}
