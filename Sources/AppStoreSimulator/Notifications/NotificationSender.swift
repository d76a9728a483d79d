import AppStoreAPI
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Delivers notifications: HTTP/1.1, with TLS 1.2 or later where the URL asks for it, on a new connection each time.
///
/// A class, since it keeps TLS contexts: loading the system's certificates is slow.
final class NotificationSender: Sendable {
    /// Redirections that are followed.
    private static let longestWay = 5

    private let contexts = Mutex<[String?: NIOSSLContext]>([:])

    /// Makes one attempt.
    ///
    /// - Parameters:
    ///   - body: the JSON to post.
    ///   - address: the first place to post it to.
    ///   - timeout: for each connection, from its opening to the end of the response; real time.
    /// - Returns: What Apple would note about it.
    @concurrent
    func post(_ body: [UInt8], to address: NotificationAddress, timeout: Duration) async -> SendAttemptResult {
        var url = address.url
        var visited: Set = [url]
        while visited.count <= Self.longestWay {
            switch await exchange(body, with: url, address.certificateAuthorities, timeout) {
            case .result(let result): return result
            case .redirection(let reference):
                guard let next = url.redirected(to: reference) else { return .invalidResponse }
                guard visited.insert(next).inserted else { return .circularRedirect }
                url = next
            }
        }
        return .circularRedirect
    }

    private func exchange(
        _ body: [UInt8], with url: NotificationURL, _ authorities: String?, _ timeout: Duration
    ) async -> NotificationAnswer {
        let limit = TimeAmount(timeout)
        do {
            let tls = url.isEncrypted ? try await context(trusting: authorities) : nil
            let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(limit)
                .connect(host: url.host, port: url.port) { channel in
                    Self.prepare(channel, posting: body, to: url, tls, limit)
                }
            return try await withTaskCancellationHandler {
                try await connection.answer.get()
            } onCancel: {
                connection.channel.close(promise: nil)
            }
        } catch ChannelError.connectTimeout {
            return .result(.timedOut)
        } catch let error as NIOConnectionError {
            let timedOut = error.connectionErrors.contains {
                if case ChannelError.connectTimeout = $0.error { true } else { false }
            }
            return .result(timedOut ? .timedOut : .socketIssue)
        } catch is IOError {
            return .result(.socketIssue)
        } catch {
            return .result(.other)
        }
    }

    private struct Connection: Sendable {
        let channel: any Channel
        let answer: EventLoopFuture<NotificationAnswer>
    }

    private static func prepare(
        _ channel: any Channel, posting body: [UInt8], to url: NotificationURL, _ tls: NIOSSLContext?,
        _ timeout: TimeAmount
    ) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let tls {
                // An address has no name to indicate; it is compared with the certificate all the same.
                let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : url.host))
            }
            try pipeline.addHTTPClientHandlers()
            let promise = channel.eventLoop.makePromise(of: NotificationAnswer.self)
            let exchange = NotificationExchange(posting: body, to: url, timeout: timeout, answer: promise)
            do {
                try pipeline.addHandler(exchange)
            } catch {
                promise.succeed(.result(.other))
                throw error
            }
            return Connection(channel: channel, answer: promise.futureResult)
        }
    }

    /// The TLS context for a set of authorities; reading certificates happens away from the threads that serve.
    private func context(trusting authorities: String?) async throws -> NIOSSLContext {
        if let known = contexts.withLock({ $0[authorities] }) { return known }
        let context = try await NIOThreadPool.singleton.runIfActive {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let authorities {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorities.utf8)))
            }
            return try NIOSSLContext(configuration: configuration)
        }
        contexts.withLock { $0[authorities] = context }
        return context
    }
}

/// Where an app wants the notifications of one environment.
package struct NotificationAddress: Sendable, Hashable {
    package var url: NotificationURL
    /// Certificates (PEM) to trust in place of the system's, for servers with a private authority.
    package var certificateAuthorities: String?

    package init(url: NotificationURL, certificateAuthorities: String? = nil) {
        self.url = url
        self.certificateAuthorities = certificateAuthorities
    }
}

/// Where notifications are sent, taken apart.
package struct NotificationURL: Sendable, Hashable {
    /// As it was given.
    package let text: String
    package let isEncrypted: Bool
    package let host: String
    package let port: Int
    /// Path and query, percent-encoded.
    package let target: String

    /// Reads an absolute URL with the scheme `https` or `http`; Apple demands the first, tests often have only the second.
    package init?(_ text: String) { self.init(URL(string: text)) }

    /// Follows a redirection, to an absolute or a relative reference.
    func redirected(to reference: String) -> NotificationURL? {
        NotificationURL(URL(string: reference, relativeTo: URL(string: text))?.absoluteURL)
    }

    private init?(_ url: URL?) {
        guard let url, let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false),
            !host.isEmpty, scheme == "https" || scheme == "http", url.user() == nil
        else { return nil }
        text = url.absoluteString
        isEncrypted = scheme == "https"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (isEncrypted ? 443 : 80)
        let path = url.path(percentEncoded: true)
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
    }

    /// Host and port as the `Host` header has them.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)"
    }
}
