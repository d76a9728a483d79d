import Curl
import Foundation
import HTTPAPI
import Listener

/// Asks the running daemon something, over its admin socket.
struct AdminClient {
    /// How long it may take to read its whole store.
    static let longTimeout = Duration.seconds(3600)
    /// What bodies are unless a request says otherwise.
    static let json = "application/json"
    private static let maximumResponseBytes = 16 << 20

    /// The path of the socket.
    let socket: String
    /// Who the operator claims to be, for the records; nil for nobody.
    let operatorName: String?
    /// How long the daemon may take, unless the request is one for long work.
    let timeout: Duration

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

    /// Where the daemon of a configuration file listens for operators.
    ///
    /// - Returns: the path of the socket.
    /// - Throws: `ConfigurationError`, `AdminClientError`.
    static func socket(file: String, environment: [String: String]) throws -> String {
        let configuration = try DaemonConfiguration.load(file: file, environment: environment)
        // Any other address is an error of the configuration.
        guard case .unix(let path, _) = configuration.listeners.admin?.address else {
            throw AdminClientError.switchedOff(file: file)
        }
        return path
    }

    /// Where the daemon probably listens for operators whose configuration file is wrong.
    ///
    /// - Returns: what the file says of it as far as it can be read, or where it is by default.
    static func probableSocket(file: String) -> String {
        let text = try? DaemonConfiguration.contents(of: file)
        let root = text.flatMap { try? YAMLDocument(text: $0, file: file).root }
        if case .text(let address) = root?.element(at: ["listeners", "admin", "address"])?.content,
            case .unix(let path, _) = try? ListenerAddress(address)
        {
            return path
        }
        guard case .at(.unix(let path, _)) = ConfigurationDefaults.Listeners.admin else { return "" }
        return path
    }

    /// Sends one request.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - target: the path, percent-encoded.
    ///   - body: a JSON object, unless `contentType` says otherwise.
    ///   - contentType: what the body is.
    ///   - timeout: how long the daemon may take at least; the client's own by default.
    /// - Returns: the answer, whatever its status.
    /// - Throws: `AdminClientError` when no answer comes.
    func send(
        _ method: CurlRequest.Method, _ target: String, body: Data? = nil, contentType: String = json,
        timeout: Duration? = nil
    ) async throws -> Reply {
        try await withClient { client in
            try await send(method, target, body.map(Array.init), contentType, timeout, over: client)
        }
    }

    /// Sends a request over a connection that is there already; as `send`.
    typealias Send = (
        _ method: CurlRequest.Method, _ target: String, _ body: [UInt8]?, _ timeout: Duration?
    ) async throws -> Reply

    /// Keeps a connection for the requests of a closure.
    func withConnection<Value>(_ body: (@escaping Send) async throws -> Value) async throws -> Value {
        try await withClient { client in
            try await body { method, target, body, timeout in
                try await send(method, target, body, Self.json, timeout, over: client)
            }
        }
    }

    private func withClient<Value>(_ body: (CurlClient) async throws -> Value) async throws -> Value {
        let client = try CurlClient()
        do {
            let value = try await body(client)
            await client.shutdown()
            return value
        } catch {
            await client.shutdown()
            throw error
        }
    }

    private func send(
        _ method: CurlRequest.Method, _ target: String, _ body: [UInt8]?, _ contentType: String, _ timeout: Duration?,
        over client: CurlClient
    ) async throws -> Reply {
        var headers = body == nil ? [] : [(name: "Content-Type", value: contentType)]
        if let operatorName { headers.append((name: OperatorName.fieldName, value: operatorName)) }
        var request = CurlRequest(
            method, "http://localhost\(target)", headers: headers, body: body,
            connectTimeout: .seconds(5), totalTimeout: max(timeout ?? self.timeout, self.timeout),
            maximumResponseBytes: Self.maximumResponseBytes)
        request.unixSocket = socket
        do throws(CurlError) {
            let response = try await client.perform(request)
            return Reply(status: response.status, body: response.body)
        } catch {
            throw explanation(of: error)
        }
    }

    /// What a failed transfer means to an operator.
    private func explanation(of error: CurlError) -> AdminClientError {
        guard error.kind == .connectFailed else {
            return .noAnswer("\(error)", mayHaveArrived: error.requestMayHaveBeenSent)
        }
        guard access(socket, R_OK | W_OK) != 0 else { return .notRunning(socket) }
        return errno == EACCES || errno == EPERM ? .notPermitted(socket) : .notRunning(socket)
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
        case .notRunning(let path):
            "No daemon answers at unix:\(path); start it, or name its admin socket with --socket."
        case .notPermitted(let path):
            """
            \(path) is not open to this user (uid \(geteuid())); run this as root, as the daemon's user, or as a member of the \
            socket's group where `listeners.admin.mode` lets that in.
            """
        case .noAnswer(let cause, let mayHaveArrived):
            "The daemon did not answer: \(cause)."
                + (mayHaveArrived ? " What was asked for may happen yet: look before you repeat it." : "")
        case .answerUnreadable: "The daemon's answer cannot be read; are daemon and command of the same version?"
        }
    }
}
