import Foundation
import HTTPTypes
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import OpenSSL
import ServiceLifecycle
import Synchronization

/// A real HTTPS server on a loopback port of the system's choice, with a certificate of its own, for tests of whatever
/// makes requests.
///
/// ```swift
/// try await LoopbackServer.run { request in
///     .init(body: request.body)
/// } during: { server in
///     // server.url, server.certificateAuthorityFile, server.requests
/// }
/// ```
///
/// Clients must be gone before the closure returns: ending the server waits for its connections.
package struct LoopbackServer: Sendable {
    /// Answers one request.
    ///
    /// On HTTP/2 its task is cancelled when the client resets the stream or goes away.
    package typealias Handler = @Sendable (Request) async throws -> Response

    /// What the server speaks and whom it claims to be.
    package struct Options: Sendable {
        /// Whether HTTP/2 is offered beside HTTP/1.1.
        package var offersHTTP2 = true
        /// The highest version of TLS that is offered is 1.1, which has been obsolete since RFC 8996.
        package var offersOnlyObsoleteTLS = false
        /// The name that the certificate is for.
        package var hostName = "localhost"
        /// How long before or after now its certificate ends.
        package var certificateLifetime = 86_400.0

        package init() {}
    }

    package let port: Int
    /// Path of the PEM file that holds the root of the server's certificate.
    package let certificateAuthorityFile: String
    private let record: Record

    /// The server's URL, without a path.
    package var url: String { "https://localhost:\(port)" }

    /// Everything that has come in so far, in the order of arrival.
    package var requests: [Request] { record.requests }

    /// How many connections requests have come by so far.
    package var connectionCount: Int { Set(requests.map(\.connection)).count }

    /// Runs a server for as long as the closure runs.
    ///
    /// - Parameters:
    ///   - options: What the server speaks.
    ///   - handler: Answers each request; what it throws ends the connection.
    ///   - body: What is done with the server.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws, or why the server could not start.
    package static func run<Result: Sendable>(
        _ options: Options = Options(), handler: @escaping Handler, during body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let certificates = try Certificates(hostName: options.hostName, lifetime: options.certificateLifetime)
        defer { certificates.remove() }
        let record = Record()
        let logger = Logger(label: "loopback") { _ in SwiftLogNoOpLogHandler() }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = try builder(options, certificates).buildServer(
            configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: 0)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in
                try await respond(to: request, writer, channel, record, handler)
            },
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
        let services = ServiceGroup(services: [server], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await services.run()
            }
            let result: Swift.Result<Result, any Error>
            do {
                guard let port = await ports.first(where: { _ in true }) else { throw ServerEndedEarly() }
                let server = LoopbackServer(
                    port: port, certificateAuthorityFile: certificates.authorityFile, record: record)
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            // Cancelling the server would do both, but NIO traps when a stream opens on a connection that nobody reads
            // any more.
            record.cancelHandlers()
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return try result.get()
        }
    }

    /// The server ended before it was bound.
    private struct ServerEndedEarly: Error {}

    private static func builder(_ options: Options, _ certificates: Certificates) throws -> HTTPServerBuilder {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificates.certificate)],
            privateKey: .privateKey(certificates.privateKey))
        if options.offersOnlyObsoleteTLS {
            tls.minimumTLSVersion = .tlsv1
            tls.maximumTLSVersion = .tlsv11
        }
        guard !options.offersHTTP2 else { return try .http2Upgrade(tlsConfiguration: tls) }
        tls.applicationProtocols = ["http/1.1"]
        return try .tls(.http1(), tlsConfiguration: tls)
    }
}

extension LoopbackServer {
    /// A server that answers nobody: each request waits until its client, or the server, goes away.
    package struct Silence: Sendable {
        /// Where each request arrives.
        package let begun = Gate()
        /// Where each arrives whose client has gone away.
        package let ended = Gate()
        private let never = Gate()

        package init() { never.close() }

        /// The server's handler.
        @Sendable package func answer(_ request: Request) async throws -> Response {
            await begun.pass()
            await never.pass()
            await ended.pass()
            throw CancellationError()
        }
    }
}

// MARK: At work

extension LoopbackServer {
    /// Reads a request to its end, has it answered and sends the answer.
    @concurrent
    static func respond(
        to request: HummingbirdCore.Request, _ writer: consuming ResponseWriter, _ channel: any Channel,
        _ record: Record, _ handler: @escaping Handler
    ) async throws {
        // A stream of HTTP/2 is a channel in the channel of its connection, which is one in that of the server.
        let isStream = channel.parent?.parent != nil
        let connection = isStream ? channel.parent ?? channel : channel
        let answer = { (body: RequestBody) in
            let content = try await body.collect(upTo: 64 * 1_048_576)
            let request = Request(
                head: request.head, body: Array(content.readableBytesView),
                connection: connection.remoteAddress?.port ?? 0)
            let task = record.answer(request, by: handler)
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
        // Watching an HTTP/1.1 connection for its end would end it after the response.
        let response =
            isStream
            ? try await request.body.consumeWithCancellationOnInboundClose(answer) : try await answer(request.body)
        try await response.write(to: writer, method: request.head.method, connection)
    }

    /// What has come in from all connections, and the handlers at work on it.
    final class Record: Sendable {
        private struct State {
            var requests: [Request] = []
            var handlers: [Task<Response, any Error>] = []
            var isEnding = false
        }

        private let state = Mutex(State())

        var requests: [Request] { state.withLock { $0.requests } }

        /// Notes a request and has it answered, in a task that the end of the server cancels.
        func answer(_ request: Request, by handler: @escaping Handler) -> Task<Response, any Error> {
            state.withLock { state in
                let task = Task { try await handler(request) }
                if state.isEnding { task.cancel() }
                state.requests.append(request)
                state.handlers.append(task)
                return task
            }
        }

        /// Cancels the handlers at work and all to come.
        func cancelHandlers() {
            state.withLock { state in
                state.isEnding = true
                state.handlers.forEach { $0.cancel() }
            }
        }
    }

    /// A root and a server certificate for one run.
    struct Certificates {
        /// Where the root is, in PEM.
        let authorityFile: String
        let certificate: NIOSSLCertificate
        let privateKey: NIOSSLPrivateKey

        /// Makes both, and writes the root to a file for clients.
        init(hostName: String, lifetime: Double) throws {
            let dates = (from: Date.now.addingTimeInterval(-86_400), to: Date.now.addingTimeInterval(86_400))
            let rootKey = try IssuingKey(generating: .p256)
            let root = try CertificateBuilder.authority("Loopback root", notBefore: dates.from, notAfter: dates.to)
                .selfSigned(by: rootKey)
            let key = try IssuingKey(generating: .p256)
            let server = try CertificateBuilder.server(
                [.dns(hostName)], notBefore: dates.from, notAfter: .now.addingTimeInterval(lifetime)
            )
            .issued(to: key.subjectPublicKeyInfo(), by: root, key: rootKey)
            certificate = try NIOSSLCertificate(bytes: server.der, format: .der)
            privateKey = try key.pkcs8PEM().withUnsafeBytes { try NIOSSLPrivateKey(bytes: Array($0), format: .pem) }
            let file = FileManager.default.temporaryDirectory.appending(path: "loopback-\(UUID().uuidString).pem")
            try root.pem().write(to: file, atomically: true, encoding: .utf8)
            authorityFile = file.path
        }

        /// Removes the file.
        func remove() {
            do {
                try FileManager.default.removeItem(atPath: authorityFile)
            } catch {
                assertionFailure("cannot remove \(authorityFile): \(error)")
            }
        }
    }
}
