import Foundation
import HTTPTypes
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization

/// A listening socket that hands requests to a function and sends what it answers.
struct HTTPListener: Sendable {
    typealias Service = @Sendable (IncomingRequest) async throws -> ResponseTransmission

    /// Where it listens.
    let address: ListenAddress
    /// How long requests under way may take to end when the socket is closed.
    private static let patience = Duration.seconds(1)

    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    /// Opens the socket and serves it until ``stop()``.
    ///
    /// - Parameters:
    ///   - address: where to listen; port 0 finds a free one.
    ///   - tls: for TLS with HTTP/2 and HTTP/1.1; nil for plain HTTP/1.1.
    ///   - maximumBodyBytes: a longer request body is not read.
    ///   - now: what arrivals are dated by.
    ///   - logger: for what the HTTP library has to say.
    ///   - service: answers the requests.
    /// - Returns: The listener, once it takes connections.
    /// - Throws: what the system says against the address.
    static func start(
        on address: ListenAddress, tls: TLSConfiguration?, maximumBodyBytes: Int,
        now: @escaping @Sendable () -> Date, logger: Logger, service: @escaping Service
    ) async throws -> HTTPListener {
        let arrivals = ArrivalLog(now: now)
        let channels = HTTP1Channel.Configuration(additionalChannelHandlers: [ArrivalHandler(arrivals)])
        let builder: HTTPServerBuilder =
            if let tls {
                try .http2Upgrade(tlsConfiguration: tls, configuration: .init(streamConfiguration: channels))
            } else {
                .http1(configuration: channels)
            }
        let (bound, continuation) = AsyncThrowingStream.makeStream(of: ListenAddress.self)
        let server = try builder.buildServer(
            configuration: ServerConfiguration(address: .hostname(address.host, port: address.port)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger,
            responder: { request, writer, channel in
                let incoming = try await IncomingRequest(
                    request, on: channel, maximumBodyBytes: maximumBodyBytes, arrivals)
                try await ResponseSender(channel: channel).send(service(incoming), with: writer)
            },
            onServerRunning: { channel in
                continuation.yield(ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port))
            })
        var configuration = ServiceGroupConfiguration(services: [server], logger: logger)
        configuration.maximumGracefulShutdownDuration = patience
        let group = ServiceGroup(configuration: configuration)
        let task = Task {
            do {
                try await group.run()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        for try await address in bound { return HTTPListener(address: address, group: group, task: task) }
        throw CancellationError()
    }

    /// Closes the socket and all connections, and returns when that is done.
    func stop() async {
        await group.triggerGracefulShutdown()
        await ended()
    }

    /// Returns when the socket is closed, for whatever reason.
    func ended() async { _ = await task.result }

    /// Waits for the end, and throws what caused it unless that was ``stop()``.
    func finish() async throws { try await task.value }
}

extension IncomingRequest {
    /// Reads a request to its end, or to the limit.
    ///
    /// - Throws: ``CutShort`` when its connection ends before it does, as when its client is killed: Apple has not got it then.
    fileprivate init(
        _ request: Request, on channel: any Channel, maximumBodyBytes: Int, _ arrivals: ArrivalLog
    ) async throws {
        let body: [UInt8]?
        do {
            body = Array(buffer: try await request.body.collect(upTo: maximumBodyBytes))
        } catch is NIOTooManyBytesError {
            body = nil
        } catch {
            // Taken out all the same, or it would be kept for ever.
            _ = arrivals.take(channel)
            throw error
        }
        let arrival = arrivals.take(channel)
        // HummingbirdCore takes the end of a connection for the end of a body.
        guard body == nil || arrival.isWhole else { throw CutShort() }
        self.init(
            method: request.method.rawValue, target: request.head.path ?? "/",
            authorization: request.headers[.authorization], contentType: request.headers[.contentType],
            arrival: arrival.date, body: body)
    }
}

/// A request has ended before it was whole.
private struct CutShort: Error {}

/// Where to listen, or where a socket does.
package struct ListenAddress: Sendable, Hashable {
    package let host: String
    /// 0 for any that is free; never 0 where a socket listens.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`; IPv6 addresses stand in brackets.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    /// Whether only this machine can connect.
    package var isLoopback: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
        return isIPv4 || host == "::1" || host == "localhost"
    }

    /// The address as it stands in a URL.
    package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// When the latest part of the request on each channel came in, and whether it was the last; outlives the channel, which a client may
/// close at once.
final class ArrivalLog: Sendable {
    private let now: @Sendable () -> Date
    /// `ends`: how many requests are there to their end and were not taken.
    private let arrivals = Mutex<[ObjectIdentifier: (date: Date, ends: Int)]>([:])

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    func note(_ channel: any Channel, isEnd: Bool) {
        let date = now()
        arrivals.withLock { arrivals in
            let ends = arrivals[ObjectIdentifier(channel)]?.ends ?? 0
            arrivals[ObjectIdentifier(channel)] = (date, ends + (isEnd ? 1 : 0))
        }
    }

    /// Takes out when the latest part of a request came in, and whether all of it did.
    func take(_ channel: any Channel) -> (date: Date, isWhole: Bool) {
        arrivals.withLock { arrivals in
            guard let arrival = arrivals.removeValue(forKey: ObjectIdentifier(channel)) else { return (now(), false) }
            if arrival.ends > 1 { arrivals[ObjectIdentifier(channel)] = (arrival.date, arrival.ends - 1) }
            return (arrival.date, arrival.ends > 0)
        }
    }
}

/// Tells an ``ArrivalLog`` of every part of a request as it comes out of the socket, before it waits for anybody to look at it.
///
/// Lives on the event loop of its channel: the connection in HTTP/1.1, a stream of it in HTTP/2.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    private let log: ArrivalLog

    init(_ log: ArrivalLog) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isEnd = if case .end = unwrapInboundIn(data) { true } else { false }
        log.note(context.channel, isEnd: isEnd)
        context.fireChannelRead(data)
    }
}
