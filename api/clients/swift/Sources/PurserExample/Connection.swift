import ArgumentParser
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// How to reach Purser, and as whom; the options are those of `purser call`.
struct Connection: ParsableArguments {
    @Option(help: "Where the daemon listens, such as 127.0.0.1:8082 or unix:/run/purser/grpc.sock.")
    var address = "127.0.0.1:8082"

    // A file and no argument: arguments of a process can be read by everybody on its machine.
    @Option(help: "A file with the token of a caller.")
    var tokenFile: String?

    @Flag(help: "Connect by TLS.")
    var tls = false

    @Option(help: "A PEM file of the authorities that vouch for the server, for TLS; without it the system's do.")
    var ca: String?

    @Option(help: "The most seconds that a call may take, with its repetitions.")
    var timeout = 10

    /// The deadline of whatever is no stream.
    var limit: Duration { .seconds(timeout) }

    func validate() throws {
        guard timeout > 0 else { throw ValidationError("--timeout takes 1 or more.") }
        _ = try target()
    }

    /// Connects, and closes the connection when `body` has returned.
    ///
    /// One client is enough for a whole program: it keeps one connection, on which calls go side by side, and connects anew by
    /// itself when that ends.
    func withClient<Result: Sendable>(
        _ body: (GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Result
    ) async throws -> Result {
        var settings = HTTP2ClientTransport.Posix.Config.defaults
        // Finds out that a server is gone that could not say so. More often than every 5 minutes Purser takes for a flood.
        settings.connection.keepalive = .init(time: .seconds(360), timeout: .seconds(20), allowWithoutCalls: false)
        let transport = try HTTP2ClientTransport.Posix(
            target: try target(), transportSecurity: security, config: settings)
        return try await withGRPCClient(
            transport: transport, interceptors: try tokenFile.map { [try BearerToken(file: $0)] } ?? [],
            handleClient: body)
    }

    private var usesTLS: Bool { tls || ca != nil }

    private var security: HTTP2ClientTransport.Posix.TransportSecurity {
        guard usesTLS else { return .plaintext }
        return .tls { configuration in
            if let ca { configuration.trustRoots = .certificates([.file(path: ca, format: .pem)]) }
        }
    }

    /// A Unix socket, or a host that may have several addresses.
    private func target() throws -> any ResolvableTarget {
        if address.hasPrefix("unix:") { return .unixDomainSocket(path: String(address.dropFirst(5))) }
        guard let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]) else {
            throw ValidationError("--address takes HOST:PORT or unix:PATH.")
        }
        let host = address[..<colon].trimmingCharacters(in: ["[", "]"])
        guard usesTLS || ["127.0.0.1", "::1", "localhost"].contains(host) else {
            throw ValidationError("A token goes to another machine by TLS alone: --tls or --ca.")
        }
        return .dns(host: host, port: port)
    }
}

/// Shows the caller's token with every call.
struct BearerToken: ClientInterceptor {
    private let authorization: String

    init(file: String) throws {
        let token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        authorization = "Bearer \(token)"
    }

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        var request = request
        request.metadata.replaceOrAddString(authorization, forKey: "authorization")
        return try await next(request, context)
    }
}
