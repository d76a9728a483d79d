import Foundation
import HTTPAPI

/// What a command of the operator has to say.
package struct CommandOutcome: Sendable, Equatable {
    /// How a program tells its caller how it went; the numbers above 1 are those of `sysexits.h`.
    package enum Status: Int32, Sendable {
        case success = 0
        case failure = 1
        /// Some of what was given is wrong (`EX_DATAERR`).
        case data = 65
        /// There is no such file, or it cannot be read (`EX_NOINPUT`).
        case noInput = 66
        /// The configuration is wrong (`EX_CONFIG`).
        case configuration = 78
        /// Interrupted from the keyboard, as shells tell it: 128 and the signal's number.
        case interrupted = 130
    }

    package let status: Status
    /// For the standard output, with its last line end; often empty.
    package let output: String
    /// For the standard error, with its last line end; often empty.
    package let errorOutput: String

    package init(_ status: Status, output: String = "", errorOutput: String = "") {
        self.status = status
        self.output = output
        self.errorOutput = errorOutput
    }
}

/// How an operator's command reaches the running daemon, and what it says when that fails.
package struct RunningDaemon: Sendable {
    /// How many seconds the daemon may take, unless the operator says otherwise or the request is one for long work.
    package static let usualTimeoutSeconds = 30

    private let file: String
    private let socket: String?
    private let operatorName: String?
    private let timeout: Duration
    private let environment: [String: String]

    /// - Parameters:
    ///   - file: the configuration file, which says where the daemon listens for operators.
    ///   - socket: the path of the daemon's admin socket; the configuration file is then not read.
    ///   - operatorName: who the operator claims to be, which is recorded with what the command does.
    ///   - timeoutSeconds: how long the daemon may take for an answer that is not one to long work.
    ///   - environment: the environment of the process.
    package init(
        file: String, socket: String?, operatorName: String? = nil, timeoutSeconds: Int = usualTimeoutSeconds,
        environment: [String: String]
    ) {
        self.file = file
        self.socket = socket
        self.operatorName = operatorName
        timeout = .seconds(timeoutSeconds)
        self.environment = environment
    }

    /// Whether an operator may be called this in the records.
    package static func isOperatorName(_ text: String) -> Bool { OperatorName.isValid(text) }

    /// The way to the daemon's admin socket.
    ///
    /// - Throws: `ConfigurationError`, `AdminClientError`.
    func client() throws -> AdminClient {
        AdminClient(
            socket: try socket ?? AdminClient.socket(file: file, environment: environment), operatorName: operatorName,
            timeout: timeout)
    }

    /// The way to the daemon's admin socket, also where the configuration file is wrong.
    ///
    /// - Returns: with what is wrong with the file; the socket is then where the file says all the same, or where it is by default.
    /// - Throws: `AdminClientError`.
    func clientWhateverTheFile() throws -> (AdminClient, ConfigurationError?) {
        do {
            return (try client(), nil)
        } catch let error as ConfigurationError {
            let socket = AdminClient.probableSocket(file: file)
            return (AdminClient(socket: socket, operatorName: operatorName, timeout: timeout), error)
        }
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
        let field: String
        let rule: String
        let message: String
    }

    let reason: String
    let detail: String
    let violations: [Violation]?
    /// Whose an identifier is, and who was named; of a conflict alone.
    let owner: String?
    let user: String?
}
