import Foundation

/// What a user would pick instead: a service on Apple's library for Python, of which the folder is not part of this
/// repository.
struct PythonPeer: Sendable {
    private let folder: String
    private let interpreter: String

    /// - Returns: nil unless both are there.
    init?(folder: String?, interpreter: String?) {
        guard let folder, let interpreter, access("\(folder)/service.py", R_OK) == 0, access(interpreter, X_OK) == 0
        else { return nil }
        self.folder = folder
        self.interpreter = interpreter
    }

    /// Starts it on the core of the service, where it answers `GET /refunds/{transactionId}`.
    ///
    /// - Parameters:
    ///   - cachesChains: whether it keeps verified chains, which the library by itself does not.
    ///   - upstream: what stands for Apple.
    ///   - bench: where.
    /// - Returns: the process, and its port.
    /// - Throws: `BenchError` when it does not listen.
    func start(cachesChains: Bool, upstream: Nginx, in bench: Bench) async throws -> (process: ChildProcess, port: Int)
    {
        let port = try Loopback.freePort()
        let process = try await bench.start(
            interpreter, ["\(folder)/service.py"],
            environment: [
                "DATA": bench.fixtures.folder.path, "UPSTREAM": "https://localhost:\(upstream.port)", "PORT": "\(port)",
                "CACHE_CHAIN": cachesChains ? "1" : "0", "PYTHONDONTWRITEBYTECODE": "1",
            ], core: bench.cores.service)
        try await Loopback.awaitListener(at: port, of: process)
        return (process, port)
    }
}
