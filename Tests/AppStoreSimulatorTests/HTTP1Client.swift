import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OpenSSL
import TestSupport

/// The least that speaks HTTP/1.1: one connection for one request, over TLS if wanted.
struct HTTP1Client: Sendable {
    struct Response: Sendable {
        let status: Int
        let body: [UInt8]
    }

    enum Failure: Error {
        case invalidURL
        case unreadable
    }

    private let host: String
    private let port: Int
    private let tls: NIOSSLContext?

    /// - Parameters:
    ///   - url: scheme, host and port.
    ///   - authority: the root to trust; nil for plain HTTP.
    ///   - applicationProtocols: what to offer for negotiation.
    /// - Throws: ``Failure/invalidURL``, or what the TLS library has against the root.
    init(url: String, trusting authority: Certificate? = nil, applicationProtocols: [String] = []) throws {
        guard let components = URLComponents(string: url), let host = components.host, let port = components.port else {
            throw Failure.invalidURL
        }
        self.host = host
        self.port = port
        if let authority {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority.der, format: .der)])
            configuration.applicationProtocols = applicationProtocols
            tls = try NIOSSLContext(configuration: configuration)
        } else {
            tls = nil
        }
    }

    /// Sends a request and reads until the server closes.
    func send(_ method: String, _ path: String, headers: [String] = [], body: [UInt8] = []) async throws -> Response {
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: \(host)", "Connection: close", "Content-Length: \(body.count)"]
            + headers
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(Int64(Wait.seconds)))
            .connect(host: host, port: port) { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await Wait.bounding("an answer to \(method) \(path)") {
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(
                    ByteBuffer(bytes: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body))
                var received: [UInt8] = []
                for try await buffer in inbound {
                    received += Array(buffer: buffer)
                    if let response = Self.parse(received) { return response }
                }
                throw Failure.unreadable
            }
        }
    }

    /// The response, once all of it is there.
    private static func parse(_ bytes: [UInt8]) -> Response? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let count = lines.lazy.compactMap { line in
            line.lowercased().hasPrefix("content-length:")
                ? Int(line.dropFirst("content-length:".count).filter(\.isNumber)) : nil
        }.first
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
            bytes.count - end.upperBound >= count ?? 0
        else { return nil }
        return Response(status: status, body: Array(bytes[end.upperBound...]))
    }
}
