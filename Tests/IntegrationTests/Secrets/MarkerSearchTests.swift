import Foundation
import GRDB
import OpenSSL
import TestSupport
import Testing

/// The search finds what was planted, in each kind of place: else that it finds nothing would prove nothing.
struct MarkerSearchTests {
    private let text = "marker-\(UUID().uuidString)"
    private let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-markers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "below/.hidden"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `a text is found as it is, and within what was encoded`() {
        let search = MarkerSearch(markers: [Marker("text", text)])
        for prefix in ["", "a", "ab", "abc", "abcd"] {
            let whole = "\(prefix)\(text)\(prefix)z"
            let encoded = Data(whole.utf8).base64EncodedString()
            for content in [whole, encoded, encoded.replacing("+", with: "-").replacing("/", with: "_")] {
                #expect(search.findings(in: "x\(content)y", "here").map(\.marker) == ["text"], "\(prefix)")
            }
        }
        #expect(search.findings(in: String(text.dropLast()), "here").isEmpty)
    }

    @Test func `bytes are found as they are, in hexadecimal digits and in Base64`() {
        let search = MarkerSearch(markers: [Marker("bytes", bytes)])
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for content in [
            bytes, Data([1, 2]) + bytes + [3], Data(digits.utf8), Data(digits.uppercased().utf8),
            Data((Data([7]) + bytes).base64EncodedString().utf8),
        ] {
            #expect(search.findings(in: content, "here").count == 1)
        }
        #expect(search.findings(in: bytes.dropFirst(), "here").isEmpty)
    }

    @Test func `a key is found by a line of its file, and by its number`() throws {
        let pem = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let search = MarkerSearch(markers: try Marker.key("key", pem: pem))
        #expect(search.findings(in: pem, "here").map(\.marker) == ["key, its text", "key, its text"])
        let lines = pem.split(separator: "\n")
        let der = try #require(Data(base64Encoded: lines[1...3].joined()))
        #expect(search.findings(in: der, "here").map(\.marker) == ["key, its number"])
        #expect(search.findings(in: "text: \(lines[2])", "here").map(\.marker).contains("key, its text"))
        let other = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(search.findings(in: other, "here").isEmpty)
    }

    @Test func `files are searched, hidden ones too, and their names`() async throws {
        try await withFolder { folder in
            let search = MarkerSearch(markers: [Marker("text", text)])
            #expect(try search.findings(below: folder).isEmpty)
            try Data("a log line with \(text) in it\n".utf8).write(to: folder.appending(path: "below/.hidden/log"))
            try Data().write(to: folder.appending(path: "\(text).tmp"))
            #expect(
                Set(try search.findings(below: folder).map(\.place)) == [
                    "below/.hidden/log", "the name \(text).tmp",
                ])
            #expect(try search.findings(below: folder, without: ["below/.hidden/log"]).count == 1)
        }
    }

    @Test func `a database, its log and a backup are searched`() async throws {
        try await withFolder { folder in
            let search = MarkerSearch(markers: [Marker("text", text), Marker("bytes", bytes)])
            let pool = try DatabasePool(path: folder.appending(path: "store.db").path)
            try await pool.write { [text, bytes] database in
                try database.execute(sql: "CREATE TABLE content (text TEXT, bytes BLOB)")
                try database.execute(sql: "INSERT INTO content VALUES (?, ?)", arguments: [text, bytes])
            }
            #expect(
                Set(try search.findings(below: folder).map(\.description)) == [
                    "text in store.db-wal", "bytes in store.db-wal",
                ])
            try await pool.writeWithoutTransaction { database in
                _ = try database.checkpoint(.truncate)
                try database.execute(
                    sql: "VACUUM INTO ?", arguments: [folder.appending(path: "backup.db").path])
            }
            #expect(
                Set(try search.findings(below: folder).map(\.description)) == [
                    "text in store.db", "bytes in store.db", "text in backup.db", "bytes in backup.db",
                ])
            try pool.close()
        }
    }

    @Test func `arguments and environment of a process are searched, and its files without a name`() async throws {
        try await withFolder { folder in
            let search = MarkerSearch(markers: [Marker("text", text)])
            let file = folder.appending(path: "temporary")
            try Data(text.utf8).write(to: file)
            let content = try FileHandle(forReadingFrom: file)
            try FileManager.default.removeItem(at: file)
            let stories: [(expected: Set<String>, argument: String, environment: [String: String], input: Int32?)] = [
                ([], "nothing", [:], nil),
                (["cmdline of a process"], text, [:], nil),
                (["environ of a process"], "nothing", ["SECRET": text], nil),
                (["a deleted file of a process"], "nothing", [:], content.fileDescriptor),
            ]
            for story in stories {
                let process = try ChildProcess(
                    [
                        "tail", "-f", "/dev/null", "--pid=\(getpid())", "--sleep-interval=600", "--retry",
                        story.argument,
                    ],
                    environment: story.environment, input: story.input)
                defer { process.kill() }
                try await Wait.until("tail to have begun") {
                    try String(contentsOfFile: "/proc/\(process.processID)/comm", encoding: .utf8) == "tail\n"
                }
                #expect(Set(try search.findings(inProcess: process.processID).map(\.place)) == story.expected)
            }
            try content.close()
        }
    }
}
