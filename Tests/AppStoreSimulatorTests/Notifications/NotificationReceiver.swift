import AppStoreSimulator
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OpenSSL
import Synchronization

/// A team's server: takes requests on a free port and does to each connection what the test wants.
final class NotificationReceiver: Sendable {
    /// What happens to a connection once the request is complete.
    enum Behaviour: Sendable {
        /// Sends these bytes, then closes.
        case raw(String)
        /// Closes without a word.
        case close
        /// Never answers.
        case silence

        static func status(_ code: Int, _ headers: String = "") -> Behaviour {
            .raw("HTTP/1.1 \(code) Whatever\r\nContent-Length: 0\r\n\(headers)\r\n")
        }
    }

    struct Request: Sendable {
        /// The request line and the headers.
        let head: String
        let body: [UInt8]
    }

    let url: String
    /// The authority of the server's certificate in PEM, if it speaks TLS.
    let authority: String?
    private let channel: any Channel
    private let script: Script

    /// What is left of the behaviours, of which the last goes on, and what came in.
    final class Script: Sendable {
        private struct Content {
            var behaviours: [Behaviour]
            var requests: [Request] = []
        }

        private let content: Mutex<Content>

        init(_ behaviours: [Behaviour]) { content = Mutex(Content(behaviours: behaviours)) }

        var requests: [Request] { content.withLock { $0.requests } }

        func take(_ request: Request) -> Behaviour {
            content.withLock { content in
                content.requests.append(request)
                return content.behaviours.count > 1 ? content.behaviours.removeFirst() : content.behaviours[0]
            }
        }
    }

    /// Runs a test with a receiver of its own.
    static func with(
        _ behaviours: Behaviour..., encrypted: Bool = false, _ test: (NotificationReceiver) async throws -> Void
    ) async throws {
        let receiver = try await NotificationReceiver(behaviours, encrypted: encrypted)
        do {
            try await test(receiver)
        } catch {
            try await receiver.channel.close().get()
            throw error
        }
        try await receiver.channel.close().get()
    }

    private init(_ behaviours: [Behaviour], encrypted: Bool) async throws {
        let script = Script(behaviours)
        var context: NIOSSLContext?
        var authority: String?
        if encrypted { (context, authority) = try Self.tls() }
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [context] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.addHandler(Handler(script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.script = script
        self.authority = authority
        url = "\(encrypted ? "https" : "http")://127.0.0.1:\(channel.localAddress?.port ?? 0)/notify?from=apple"
    }

    var requests: [Request] { script.requests }

    private static func tls() throws -> (NIOSSLContext, String) {
        let now = Date()
        let authorityKey = try IssuingKey(generating: .p256)
        let authority = try CertificateBuilder.authority(
            "Private", notBefore: now - 86_400, notAfter: now + 86_400, pathLength: 0
        ).selfSigned(by: authorityKey)
        let key = try IssuingKey(generating: .p256)
        let certificate = try CertificateBuilder.server(
            [.ipAddress("127.0.0.1")], notBefore: now - 86_400, notAfter: now + 86_400
        ).issued(to: key.subjectPublicKeyInfo(), by: authority, key: authorityKey)
        let pem = try key.pkcs8PEM().withUnsafeBytes { Array($0) }
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem)))
        return (try NIOSSLContext(configuration: configuration), try authority.pem())
    }

    /// Reads one request by its `Content-Length`; lives on the event loop of its channel.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let script: Script
        private var bytes: [UInt8] = []

        init(_ script: Script) { self.script = script }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += Array(buffer: unwrapInboundIn(data))
            // A TLS greeting where none is expected is answered like bad HTTP, as servers do.
            guard bytes.first != 0x16 else { return answer(.status(400), context) }
            guard let end = String(decoding: bytes, as: Unicode.ASCII.self).range(of: "\r\n\r\n") else { return }
            let head = String(decoding: bytes, as: Unicode.ASCII.self)[..<end.lowerBound]
            let start = head.unicodeScalars.count + 4
            let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
            guard let length, bytes.count >= start + length else { return }
            answer(script.take(Request(head: String(head), body: Array(bytes[start...]))), context)
        }

        private func answer(_ behaviour: Behaviour, _ context: ChannelHandlerContext) {
            switch behaviour {
            case .raw(let text):
                let channel = context.channel
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)))
                    .whenComplete { _ in channel.close(promise: nil) }
            case .close: context.close(promise: nil)
            case .silence: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
