import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL

extension Listener {
    /// How many connections are accepted in one turn of the event loop, which may have much else to do before the next.
    private static let acceptedAtOnce: UInt = 16

    /// Opens the listening channel, which accepts nothing before `autoRead` is set.
    func open() async throws(ListenerError.Reason) -> (any Channel, BoundAddress) {
        // On a thread that may block.
        try await certificates?.load()
        if let inherited { return try await open(inheriting: inherited) }
        switch configuration.address {
        case .tcp(let host, let port):
            let channel = try await open { bootstrap in
                try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
            }
            whenClosed(channel, remove: nil)
            return (channel, .tcp(host: host, port: channel.localAddress?.port ?? port))

        case .unix(let path, let mode):
            let (descriptor, file) = try UnixSocketFile.bind(path: path, mode: mode, group: try await socketGroup())
            do throws(ListenerError.Reason) {
                let channel = try await open(descriptor: descriptor) { bootstrap in
                    try await bootstrap.withBoundSocket(descriptor).get()
                }
                whenClosed(channel, remove: file)
                return (channel, .unix(path: path))
            } catch {
                file.remove()
                throw error
            }
        }
    }

    /// Listens with a socket that was handed over; its file, if it has one, is the giver's and stays.
    private func open(inheriting descriptor: Int32) async throws(ListenerError.Reason) -> (any Channel, BoundAddress) {
        try InheritedDescriptor.check(descriptor, against: configuration.address)
        let address = try InheritedDescriptor.address(of: descriptor)
        let channel = try await open(descriptor: descriptor) { bootstrap in
            try await bootstrap.withBoundSocket(descriptor).get()
        }
        whenClosed(channel, remove: nil)
        return (channel, address)
    }

    /// The group is looked up on a thread that may block: directories of users can be on other machines.
    private func socketGroup() async throws(ListenerError.Reason) -> SocketGroup? {
        guard let text = configuration.socketGroup else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive { try SocketGroup(text) }
        } catch {
            throw (error as? ListenerError.Reason) ?? .other("\(error)")
        }
    }

    private func open(
        descriptor: Int32? = nil, _ bind: (ServerBootstrap) async throws -> any Channel
    ) async throws(ListenerError.Reason) -> any Channel {
        do {
            return try await bind(bootstrap(descriptor: descriptor))
        } catch let error as IOError {
            throw ListenerError.Reason(errno: error.errnoCode)
        } catch {
            throw .other("\(error)")
        }
    }

    private func bootstrap(descriptor: Int32?) -> ServerBootstrap {
        let (configuration, connections, certificates, logger) = (configuration, connections, certificates, logger)
        let addHandlers = connectionHandlers()
        return ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.maxMessagesPerRead, value: Self.acceptedAtOnce)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // Each read is one that the guard has asked for.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: PipelinedRequests.usualReads)
            .serverChannelInitializer { channel in
                // NIO gives a descriptor from elsewhere its own backlog before it looks at the option.
                if let descriptor { listen(descriptor, Int32(clamping: configuration.backlog)) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptHandler(connections: connections, logger: logger))
                }
            }
            .childChannelInitializer { channel in
                let peer = PeerRecord()
                do {
                    try certificates?.addHandlers(to: channel, peer, logger)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                // A client whose credentials the kernel does not tell is not served.
                let known =
                    configuration.address.isUnix
                    ? peer.noteCredentials(of: channel) : channel.eventLoop.makeSucceededVoidFuture()
                return known.flatMapThrowing {
                    try addHandlers(channel, peer)
                    if let order = connections.order { OpenConnections.pass(order, to: channel) }
                }
            }
    }

    /// What serves a connection: NIO's HTTP codec, our limits, and the answers.
    private func connectionHandlers() -> @Sendable (any Channel, PeerRecord) throws -> Void {
        // Those of the moment at which a connection comes, and not of this one.
        let (current, connections, limiter) = (current, connections, limiter)
        let (respond, answerOverload, turns, logger) = (respond, answerOverload, turns, logger)
        return { channel, peer in
            let configuration = current.value
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                // The answers are in the order of the requests, one at a time.
                withPipeliningAssistance: false,
                withErrorHandling: false,
                // Swift HTTP types check their fields themselves.
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: NIOHTTPDecoderLimitConfiguration(configuration))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            let guarding = ConnectionGuard(
                configuration: configuration, connections: connections, limiter: limiter,
                answeringOverload: answerOverload, logger: logger)
            try pipeline.addHandler(guarding)
            try guarding.addHandlersBefore(in: pipeline)
            try pipeline.addHandler(
                ConnectionResponder(
                    AcceptedConnection(peerRecord: peer, slot: guarding.slot), respond,
                    on: EventLoopExecutor(turns[channel.eventLoop], limiter), connections, logger))
        }
    }

    private func whenClosed(_ channel: any Channel, remove file: UnixSocketFile?) {
        channel.closeFuture.whenComplete { [connections] _ in
            file?.remove()
            connections.acceptingHasEnded()
        }
    }
}

extension ListenerCertificates {
    /// Adds what a connection needs for TLS; called on its event loop, before other handlers.
    fileprivate func addHandlers(to channel: any Channel, _ peer: PeerRecord, _ logger: Logger) throws {
        // Read before the socket was bound.
        guard let context else { throw ListenerError.Reason.closedUnexpectedly }
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        guard asksClients else { return }
        try channel.pipeline.syncOperations.addHandler(PeerCertificateHandler(peer: peer, logger: logger))
    }
}

extension NIOHTTPDecoderLimitConfiguration {
    fileprivate init(_ configuration: ListenerConfiguration) {
        self.init()
        maxHeaderFieldSize = configuration.maximumHeaderBytes
        maxHeaderListSize = configuration.maximumHeaderBytes
        maxHeaderFieldCount = configuration.maximumHeaderCount
    }
}
