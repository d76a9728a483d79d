import Foundation
import JSON
import TestSupport
import Testing

/// Damaged keys go into a real daemon by every way, and then all that it has written is searched for parts of them.
struct MutilatedKeyStoryTests {
    /// Those that people bring, and those that came out before.
    private static let kinds: Set<String> = [
        "one line", "SEC 1, one line", "spaces for line breaks", "SEC 1, spaces for line breaks", "BEGIN joined",
        "CRLF",
        "CR only", "byte order mark", "escaped line breaks", "SEC 1, escaped line breaks", "quotes",
        "quotes and escaped line breaks", "SEC 1", "DER", "hexadecimal", "Base64 of the file", "as if encrypted",
        "truncated", "label lost", "SEC 1, label lost", "the number as label", "no dashes after BEGIN, one line",
        "bytes changed", "the number as algorithm", "the number as curve", "two keys", "JSON", "YAML",
    ]
    /// Those with which a start is tried, which takes a while.
    private static let started: Set<String> = [
        "SEC 1, one line", "SEC 1, label lost", "the number as label", "no dashes after BEGIN, one line",
        "the number as curve",
    ]
    /// Those that are keys all the same.
    private static let loading: Set<String> = ["CRLF", "CR only"]

    /// What was written, by place.
    private final class Output {
        private(set) var texts: [(place: String, text: String)] = []

        func note(_ place: String, _ text: String) { texts.append((place, text)) }

        func note(_ place: String, _ outcome: ChildProcess.Outcome) {
            note(place, "\(outcome.output)\n\(outcome.errorOutput)")
        }

        func note(_ place: String, _ reply: LocalClient.Reply?) throws {
            let reply = try #require(reply)
            note(place, "\(reply.status) \(reply.headers) \(String(decoding: reply.body, as: UTF8.self))")
        }
    }

    @Test func `of a damaged key nothing is in an output, a log, a response or the database`() async throws {
        let (all, traces) = try MutilatedKey.all(seed: 21, rounds: 1)
        let keys = all.filter { Self.kinds.contains($0.kind) }
        try #require(keys.count == Self.kinds.count)
        try await DaemonStage.with { stage in
            let output = Output()
            let folder = try Self.makeDirectory(of: keys, in: stage)
            try await Self.tryStarts(with: keys, in: stage, output)
            let daemon = try await stage.start()
            for (number, key) in keys.enumerated() {
                try await Self.importKey(key, number, folder, stage, output)
            }
            output.note("keys list", try await stage.command("keys", "list"))
            output.note("config check", try await stage.command("config", "check"))
            try output.note("keys", await stage.admin.send("GET", "/v1/keys"))
            let health = await stage.admin.send("GET", "/healthz")
            try output.note("healthz", health)
            try output.note("metrics", await stage.health.send("GET", "/metrics"))
            // The directory was read, and its files are named.
            #expect(health.map { String(decoding: $0.body, as: UTF8.self).contains("line breaks missing") } == true)
            #expect(try await daemon.terminate() == 0)
            output.note("the log", daemon.log.text)
            for (place, text) in output.texts {
                let found = traces.findings(in: text)
                #expect(found.isEmpty, "\(found.sorted()) in \(place)")
            }
            try Self.expectNothing(of: traces, below: stage.storeFolder)
        }
    }

    /// Puts all keys into a folder, which the configuration names as a directory of keys.
    private static func makeDirectory(of keys: [MutilatedKey], in stage: DaemonStage) throws -> URL {
        let folder = stage.folder.appending(path: "directory")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (number, key) in keys.enumerated() where !loading.contains(key.kind) {
            try write(key, to: folder.appending(path: "AuthKey_DIRECTORY\(number).p8"))
        }
        var text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        text += "keyDirectories: [{ path: \"\(folder.path)\", issuer: \(DaemonStage.issuer), apps: [coins] }]\n"
        try text.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        return folder
    }

    private static func write(_ key: MutilatedKey, to file: URL) throws {
        try Data(key.bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Checks the configuration, and starts a daemon, with keys in the place of the right one.
    private static func tryStarts(with keys: [MutilatedKey], in stage: DaemonStage, _ output: Output) async throws {
        let file = stage.folder.appending(path: "key.p8")
        let right = try Data(contentsOf: file)
        for key in keys where started.contains(key.kind) {
            try write(key, to: file)
            let check = try await stage.command("config", "check")
            #expect(check.status != 0, "\(key.kind)")
            output.note("config check: \(key.kind)", check)
            let daemon = try stage.launch()
            #expect(try await !daemon.isReady, "\(key.kind)")
            output.note("serve: \(key.kind)", daemon.log.text)
        }
        try right.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Brings a key by a file, by standard input, and by the admin socket, which the command would keep it from.
    private static func importKey(
        _ key: MutilatedKey, _ number: Int, _ folder: URL, _ stage: DaemonStage, _ output: Output
    ) async throws {
        let file = stage.folder.appending(path: "import.p8")
        try write(key, to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let options = ["--issuer", DaemonStage.issuer, "--app", "coins"]
        let byFile = try await stage.command(["keys", "import", file.path, "--id", "FILE\(number)"] + options)
        #expect((byFile.status == 0) == loading.contains(key.kind), "\(key.kind): \(byFile)")
        output.note("import of a file: \(key.kind)", byFile)
        if String(validating: key.bytes, as: UTF8.self) != nil {
            let byInput = try await DaemonStage.program(
                ["keys", "import", "-", "--id", "INPUT\(number)", "--config", stage.configuration] + options,
                input: key.text)
            #expect(byInput.status != 0, "\(key.kind): \(byInput)")
            output.note("import of the standard input: \(key.kind)", byInput)
        }
        let target = "/v1/keys/SOCKET\(number):import?issuerId=\(DaemonStage.issuer)&app=coins"
        let bySocket = await stage.admin.send(
            "POST", target, ["Content-Type": "application/x-pem-file"], content: key.bytes)
        #expect((400..<500).contains(bySocket?.status ?? 0), "\(key.kind)")
        try output.note("import by the admin socket: \(key.kind)", bySocket)
        // As JSON, and as a caller's public key.
        try output.note("import as JSON: \(key.kind)", await stage.admin.send("POST", target, content: key.bytes))
        try output.note(
            "a caller's key: \(key.kind)",
            await stage.admin.send(
                "POST", "/v1/callers/shop\(number)/keys",
                body: ["app": "coins", "publicKey": .string(key.text), "scopes": ["refunds:read"]]))
        guard key.text.contains("-----BEGIN") else { return }
        let asArgument = try await DaemonStage.program(["keys", "import", key.text] + options)
        #expect(asArgument.status == 64 && asArgument.errorOutput.contains("holds a key"), "\(key.kind): \(asArgument)")
        output.note("as an argument: \(key.kind)", asArgument)
    }

    /// Searches the database, its log, the audit and whatever else the daemon keeps.
    private static func expectNothing(of traces: KeyTraces, below folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        try #require(paths.contains("purser.db"))
        for path in paths {
            let file = folder.appending(path: path)
            let type = try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
            guard type == .typeRegular else { continue }
            let found = traces.findings(in: try Data(contentsOf: file))
            #expect(found.isEmpty, "\(found.sorted()) in \(path)")
        }
    }
}
