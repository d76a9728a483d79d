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
