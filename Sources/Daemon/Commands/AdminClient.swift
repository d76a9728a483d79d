import Curl
import Foundation
import Listener

/// Asks the running daemon something, over its admin listener.
struct AdminClient {
    /// How long the daemon may take, unless the request is one for long work.
    static let timeout = Duration.seconds(30)
    /// How long it may take to read its whole store.
    static let longTimeout = Duration.seconds(3600)
    private static let maximumResponseBytes = 16 << 20

    let address: ListenerAddress

    /// An answer of the daemon's.
    struct Reply {
        let status: Int
        let body: [UInt8]

        /// Whether the daemon did what it was asked.
        var isSuccess: Bool { (200..<300).contains(status) }

        /// Reads the body.
        ///
        /// - Throws: `AdminClientError` when it is not what this version expects.
        func decoded<Value: Decodable>(_ type: Value.Type) throws(AdminClientError) -> Value {
            do {
                return try JSONDecoder().decode(type, from: Data(body))
            } catch {
                throw .answerUnreadable
            }
        }
    }

    /// Where the daemon of a configuration file listens for operators; `socket` overrides.
    ///
    /// - Throws: `ConfigurationError`, `AdminClientError`.
    static func address(
        file: String, socket: String?, environment: [String: String]
    ) throws -> ListenerAddress {
        if let socket { return .unix(path: socket, mode: 0) }
        let configuration = try DaemonConfiguration.load(file: file, environment: environment)
        guard let admin = configuration.listeners.admin else { throw AdminClientError.switchedOff(file: file) }
        return admin.address
    }

    /// Sends one request.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - target: the path, percent-encoded.
    ///   - body: a JSON object.
    ///   - timeout: how long the daemon may take.
    /// - Returns: the answer, whatever its status.
    /// - Throws: `AdminClientError` when no answer comes.
    func send(
        _ method: CurlRequest.Method, _ target: String, body: Data? = nil, timeout: Duration = timeout
    ) async throws -> Reply {
        try await withConnection { send in try await send(method, target, body.map(Array.init), timeout) }
    }

    /// Sends a request over a connection that is there already; as `send`.
    typealias Send = (
        _ method: CurlRequest.Method, _ target: String, _ body: [UInt8]?, _ timeout: Duration
    ) async throws -> Reply

    /// Keeps a connection for the requests of a closure.
    func withConnection<Value>(_ body: (@escaping Send) async throws -> Value) async throws -> Value {
        let client = try CurlClient()
        do {
            let value = try await body { method, target, body, timeout in
                try await send(method, target, body, timeout, over: client)
            }
            await client.shutdown()
            return value
        } catch {
            await client.shutdown()
            throw error
        }
    }

    private func send(
        _ method: CurlRequest.Method, _ target: String, _ body: [UInt8]?, _ timeout: Duration, over client: CurlClient
    ) async throws -> Reply {
        var request = CurlRequest(
            method, "http://\(host)\(target)",
            headers: body == nil ? [] : [(name: "Content-Type", value: "application/json")], body: body,
            connectTimeout: .seconds(5), totalTimeout: timeout, maximumResponseBytes: Self.maximumResponseBytes)
        request.allowsClearText = true
        if case .unix(let path, _) = address { request.unixSocket = path }
        do throws(CurlError) {
            let response = try await client.perform(request)
            return Reply(status: response.status, body: response.body)
        } catch {
            throw explanation(of: error)
        }
    }

    private var host: String {
        if case .tcp = address { "\(address)" } else { "localhost" }
    }

    /// What a failed transfer means to an operator.
    private func explanation(of error: CurlError) -> AdminClientError {
        guard error.kind == .connectFailed else {
            return .noAnswer("\(error)", mayHaveArrived: error.requestMayHaveBeenSent)
        }
        guard case .unix(let path, _) = address, access(path, R_OK | W_OK) != 0 else {
            return .notRunning("\(address)")
        }
        return errno == EACCES || errno == EPERM ? .notPermitted(path) : .notRunning("\(address)")
    }
}

/// Why the daemon could not be asked.
enum AdminClientError: Error, Equatable, CustomStringConvertible {
    case switchedOff(file: String)
    case notRunning(String)
    case notPermitted(String)
    case noAnswer(String, mayHaveArrived: Bool)
    case answerUnreadable

    /// What is wrong and how to put it right.
    var description: String {
        switch self {
        case .switchedOff(let file):
            "\(file) switches the admin listener off (`listeners.admin.address: none`); this command needs it."
        case .notRunning(let address):
            "No daemon answers at \(address); start it, or name its admin socket with --socket."
        case .notPermitted(let path):
            "\(path) is not open to this user; run this as root, or as a member of the socket's group."
        case .noAnswer(let cause, _): "The daemon did not answer: \(cause)."
        case .answerUnreadable: "The daemon's answer cannot be read; are daemon and command of the same version?"
        }
    }
}
