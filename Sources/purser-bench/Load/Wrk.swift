import Foundation

/// GET requests with wrk: as many as come back, on a number of connections.
struct Wrk: Sendable {
    /// What it found.
    struct Result: Sendable {
        let requestsPerSecond: Double
        /// In milliseconds.
        let median: Double
        /// In milliseconds.
        let percentile99: Double
    }

    /// How many different transactions are asked about, so that no answer is shared by two who ask at the same time.
    static let identifierCount = 4096
    /// The lowest of their ids, a multiple of ten.
    static let firstIdentifier = 2_000_000_400_000_000
    /// Their ids.
    static let transactions = firstIdentifier..<firstIdentifier + identifierCount

    let port: Int
    /// The path, with `%d` where a transaction id goes, and `%a` where the number of its app does.
    let path: String
    /// How far the apps lie from each other.
    var distance = 1
    var token: String?

    /// Sends requests for a while.
    ///
    /// - Throws: `BenchError` when any answer is not a success.
    func run(connections: Int, seconds: Int = 1, in bench: Bench) async throws -> Result {
        let script = bench.folder.appending(path: "wrk-\(port).lua")
        try lua.write(to: script, atomically: true, encoding: .utf8)
        var arguments = [
            "-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "60s", "--latency", "-s", script.path,
        ]
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        let process = try await bench.start(
            try Tool.wrk.path(), arguments + ["http://127.0.0.1:\(port)/"], core: bench.cores.load)
        return try Self.result(try await process.finished())
    }

    /// The path in Lua, counted up from request to request.
    private var lua: String {
        let expression = path.replacing("%d", with: "\" .. string.format(\"%d\", \(Self.firstIdentifier) + id) .. \"")
            .replacing("%a", with: "\" .. (id % 10 * \(distance)) .. \"")
        return """
            local n = 0
            request = function()
                n = n + 1
                local id = n % \(Self.identifierCount)
                return wrk.format("GET", "\(expression)")
            end

            """
    }

    static func result(_ output: String) throws(BenchError) -> Result {
        for trouble in ["Non-2xx", "Socket errors"] {
            if let line = output.split(separator: "\n").first(where: { $0.contains(trouble) }) {
                throw BenchError("wrk: \(line.trimmingCharacters(in: .whitespaces))")
            }
        }
        guard let rate = value(after: "Requests/sec:", output).flatMap({ Double($0) }),
            let median = value(after: "50%", output).flatMap(milliseconds),
            let percentile99 = value(after: "99%", output).flatMap(milliseconds)
        else { throw BenchError("wrk printed no figures") }
        guard rate > 0 else { throw BenchError("wrk got no answer") }
        return Result(requestsPerSecond: rate, median: median, percentile99: percentile99)
    }

    private static func value(after name: String, _ output: String) -> String? {
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count > 1, words[0] == name { return String(words[1]) }
        }
        return nil
    }

    /// A time as wrk writes it, such as `1.20ms`.
    private static func milliseconds(_ text: String) -> Double? {
        for (unit, factor) in [("us", 0.001), ("ms", 1), ("s", 1000), ("m", 60_000)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }
}

/// What the crypto library does by itself: P-256 signatures on one core, in a second of its time each.
struct OpenSSLSpeed: Sendable {
    let signaturesPerSecond: Double
    let verificationsPerSecond: Double

    /// Asks `openssl speed`, which counts processor time, on the core of the service.
    ///
    /// - Throws: `BenchError` when its output is not what it should be.
    static func measure(in bench: Bench) async throws -> OpenSSLSpeed {
        let process = try await bench.start(
            try Tool.openssl.path(), ["speed", "-seconds", "1", "ecdsap256"], core: bench.cores.service)
        let output = try await process.finished()
        let line = output.split(separator: "\n").last { $0.contains("nistp256") }
        let columns = line?.split(separator: " ") ?? []
        guard columns.count >= 2, let sign = Double(columns[columns.count - 2]),
            let verify = Double(columns[columns.count - 1])
        else { throw BenchError("openssl speed printed no rates") }
        return OpenSSLSpeed(signaturesPerSecond: sign, verificationsPerSecond: verify)
    }
}
