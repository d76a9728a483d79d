import Foundation

/// How an operator's command reaches the running daemon, and what it says when that fails.
package struct RunningDaemon: Sendable {
    private let file: String
    private let socket: String?
    private let environment: [String: String]

    /// - Parameters:
    ///   - file: the configuration file, which says where the daemon listens for operators.
    ///   - socket: the path of the daemon's admin socket; the configuration file is then not read.
    ///   - environment: the environment of the process.
    package init(file: String, socket: String?, environment: [String: String]) {
        self.file = file
        self.socket = socket
        self.environment = environment
    }

    /// The way to the daemon's admin listener.
    ///
    /// - Throws: `ConfigurationError`, `AdminClientError`.
    func client() throws -> AdminClient {
        AdminClient(address: try AdminClient.address(file: file, socket: socket, environment: environment))
    }

    /// Runs a command; what it throws becomes its outcome.
    static func outcome(_ body: () async throws -> CommandOutcome) async -> CommandOutcome {
        do {
            return try await body()
        } catch let error as ConfigurationError {
            return CommandOutcome(.configuration, errorOutput: "\(error)\n")
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }

    /// What the daemon has against a request.
    ///
    /// - Throws: `AdminClientError` when its answer is none of ours.
    static func refusal(_ reply: AdminClient.Reply) throws(AdminClientError) -> CommandOutcome {
        let problem = try reply.decoded(Problem.self)
        let lines = problem.violations?.map(\.message) ?? [problem.detail]
        return CommandOutcome(.failure, errorOutput: lines.map { "\($0)\n" }.joined())
    }
}

/// Why the daemon refuses.
struct Problem: Decodable {
    struct Violation: Decodable {
        let message: String
    }

    let detail: String
    let violations: [Violation]?
}
