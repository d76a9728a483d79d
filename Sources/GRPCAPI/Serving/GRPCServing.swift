import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import Logging
package import NIOCore
import Synchronization

/// Serves the contract on connections that somebody else accepts.
///
/// The transport brings HTTP/2 and the framing of messages; sockets, TLS and who is at the other end are the listener's, and what
/// a call means is the route's: each call is a request of the same route that the REST face serves, made in process.
package final class GRPCServing<Connection: GRPCConnection>: Sendable {
    /// Answers a request, for whoever is at the other end of a connection.
    package typealias Answerer = @Sendable (RouteRequest, any Channel, Connection) async -> RouteAnswer
    /// What is served, and within which bounds.
    package struct Settings: Sendable {
        /// The listener's name, by which methods are chosen.
        package var listener: String
        package var limits: @Sendable () -> GRPCLimits
        /// Whether clients may ask what there is to call.
        package var reflects: Bool
        /// Calls at once on one connection.
        package var maximumCalls = 100

        package init(listener: String, reflects: Bool, limits: @escaping @Sendable () -> GRPCLimits) {
            self.listener = listener
            self.limits = limits
            self.reflects = reflects
        }
    }

    private let settings: Settings
    private let calls = OpenCalls<Connection>()
    private let handlers: [String: any CallHandler<Connection>]
    private let transport: HTTP2ServerTransport.Custom<HandedListener>
    private let listener: HandedListener
    private let logger: Logger

    /// - Parameters:
    ///   - settings: what is served.
    ///   - contract: the methods and their messages.
    ///   - isReady: asked for health.
    ///   - eventLoopGroup: runs the connections.
    ///   - logger: told of calls that break off.
    ///   - answer: answers calls.
    package init(
        _ settings: Settings, _ contract: ProtoContract, isReady: @escaping @Sendable () async -> Bool,
        eventLoopGroup: any EventLoopGroup, logger: Logger, answering answer: @escaping Answerer
    ) {
        self.settings = settings
        self.logger = logger
        var handlers: [String: any CallHandler<Connection>] = [:]
        let caller = RouteCaller(contract, answer)
        for method in contract.methods where method.route.listeners.contains(settings.listener) {
            handlers[method.path] =
                if method.route.watches { EventWatch(method, caller) } else { RouteCall(method, caller) }
        }
        let services = Set(handlers.keys.map { String($0.prefix { $0 != "/" }) })
        let health = HealthCalls<Connection>(services: services, isReady: isReady)
        for (name, handler) in health.handlers { handlers[name] = handler }
        if settings.reflects {
            handlers[ReflectionCall<Connection>.path] = ReflectionCall(contract, services: services)
        }
        self.handlers = handlers
        listener = HandedListener(eventLoopGroup)
        transport = HTTP2ServerTransport.Custom(
            listenerFactory: listener, config: Self.configuration(settings, calls, handlers))
        var context = GRPCServerContext()
        context.methods = handlers.map { path, handler in
            let parts = path.split(separator: "/")
            return MethodDescriptor(
                fullyQualifiedService: String(parts[0]), method: String(parts[1]), type: handler.type)
        }
        transport.configure(context: context)
    }

    private static func configuration(
        _ settings: Settings, _ calls: OpenCalls<Connection>, _ handlers: [String: any CallHandler<Connection>]
    ) -> HTTP2ServerTransport.Custom<HandedListener>.Config {
        var configuration = HTTP2ServerTransport.Custom<HandedListener>.Config.defaults
        // How long a connection may rest is the listener's business.
        // As unary calls are most of what comes, nobody waits for others to be sent with them.
        configuration.connection.flushCoalescing = nil
        configuration.http2.maxConcurrentStreams = settings.maximumCalls
        // `CallHead` refuses what is too long, with a word.
        configuration.rpc.maxRequestPayloadSize = Int(UInt32.max)
        let streaming = Set(handlers.filter { $0.value.type.isRequestStreaming }.map { "/" + $0.key })
        configuration.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            stream.eventLoop.makeCompletedFuture {
                guard let channel = stream.parent else { throw ChannelError.ioOnClosedChannel }
                let mark = try channel.pipeline.syncOperations.handler(type: ConnectionMark<Connection>.self)
                let call = OpenCall(channel, stream, mark.connection)
                try stream.pipeline.syncOperations.addHandler(
                    CallHead(settings.limits(), calls, call) { streaming.contains($0) }, position: .first)
            }
        }
        return configuration
    }

    /// Has sockets bound, whose connections are served once ``serve(whenReady:)`` runs.
    package func bind<Source: GRPCConnectionSource>(_ source: Source) async throws
    where Source.Connection == Connection {
        let listener = listener
        let usesTLS = source.usesTLS
        listener.take(
            try await source.bind { channel, connection in
                guard let configurator = listener.configurator else {
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                do {
                    try channel.pipeline.syncOperations.addHandlers(FrameGuard(), ConnectionMark(connection))
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return configurator.configure(channel: channel, tls: usesTLS ? .configured(requireALPN: true) : .none)
            })
    }

    /// Serves the connections that the sockets bring, until those are closed and all of them are.
    ///
    /// `isReady`: called once connections can be accepted.
    package func serve(whenReady isReady: @escaping @Sendable () -> Void) async throws {
        listener.announce(to: isReady)
        try await transport.listen { stream, _ in await self.handle(stream) }
    }

    private func handle(
        _ stream: RPCStream<
            HTTP2ServerTransport.Custom<HandedListener>.Inbound, HTTP2ServerTransport.Custom<HandedListener>.Outbound
        >
    ) async {
        do {
            var parts = stream.inbound.makeAsyncIterator()
            guard case .metadata(let metadata)? = try await parts.next(isolation: #isolation),
                let name = metadata[stringValues: OpenCalls<Connection>.metadataName].first(where: { _ in true }),
                let call = calls[name]
            else { return }
            let answers = CallAnswers(stream.outbound, call, settings.limits().writeTime)
            if let handler = handlers[stream.descriptor.fullyQualifiedMethod] {
                var messages = CallMessages(parts)
                try await handler.handle(&messages, metadata, call, answers)
            } else {
                try await answers.end(
                    CallStatus(
                        code: .unimplemented,
                        message: "There is no method \(stream.descriptor.fullyQualifiedMethod) on this listener."))
            }
        } catch {
            // The client has gone, or was told already.
            logger.trace("A call broke off", metadata: ["reason": "\(error)"])
        }
        await stream.outbound.finish()
    }
}

/// Where connections come from: a listener that knows nothing of gRPC.
package protocol GRPCConnectionSource: Sendable {
    associatedtype Connection: GRPCConnection

    var usesTLS: Bool { get }

    /// Binds sockets, and has handlers put into each connection, on its event loop and behind those of TLS.
    func bind<Accepted: Sendable>(
        _ accept: @escaping @Sendable (any Channel, Connection) -> EventLoopFuture<Accepted>
    ) async throws -> NIOAsyncChannel<Accepted, Never>
}

/// Hands the transport a socket that listens already.
final class HandedListener: HTTP2ServerTransport.ListenerFactory {
    typealias Accepted = HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel

    private struct State {
        var channel: NIOAsyncChannel<Accepted, Never>?
        var isReady: (@Sendable () -> Void)?
        var configurator: HTTP2ServerTransport.ConnectionConfigurator?
    }

    let eventLoopGroup: any EventLoopGroup
    private let state = Mutex(State())

    init(_ eventLoopGroup: any EventLoopGroup) { self.eventLoopGroup = eventLoopGroup }

    deinit {
        // One that was never served must be ended as it wants it.
        guard let channel = state.withLock({ $0.channel.take() }) else { return }
        Task { try? await channel.executeThenClose { _ in } }
    }

    /// What puts handlers into connections; nil before the transport runs.
    var configurator: HTTP2ServerTransport.ConnectionConfigurator? { state.withLock(\.configurator) }

    func take(_ channel: NIOAsyncChannel<Accepted, Never>) { state.withLock { $0.channel = channel } }

    func announce(to isReady: @escaping @Sendable () -> Void) { state.withLock { $0.isReady = isReady } }

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<Accepted, Never> {
        let (channel, isReady) = state.withLock { state in
            state.configurator = connectionConfigurator
            return (state.channel.take(), state.isReady.take())
        }
        guard let channel else { throw ChannelError.ioOnClosedChannel }
        // Only so that what the transport has for closing sockets, which others do here, has been used when it goes.
        let socket = channel.channel
        try await socket.eventLoop.flatSubmit { listenerConfigurator.configure(channel: socket) }.get()
        isReady?()
        return channel
    }
}
