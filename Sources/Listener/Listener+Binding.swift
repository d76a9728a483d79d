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

    /// Where a bootstrap listens.
    enum Place: Sendable {
        case address(host: String, port: Int)
        /// Of a socket that is bound already.
        case descriptor(Int32)
    }

    /// How a bootstrap is made to listen, and what serves the connections that come.
    struct Opening<Bound: Sendable>: Sendable {
        /// Listens, with what there is to be said of connections.
        let bind: @Sendable (sending ServerBootstrap, Place) async throws -> Bound
        /// The socket that listens.
        let channel: @Sendable (Bound) -> any Channel
    }

    /// Opens the listening channel for HTTP/1.1, which accepts nothing before `autoRead` is set.
    func open() async throws(ListenerError.Reason) -> (any Channel, BoundAddress) {
        let (prepare, addHandlers, connections) = (preparation(), connectionHandlers(), connections)
        return try await open(
            Opening(
                bind: { bootstrap, place in
                    let bootstrap =
                        bootstrap
                        .childChannelOption(.allowRemoteHalfClosure, value: true)
                        // Each read is one that the guard has asked for.
                        .childChannelOption(.maxMessagesPerRead, value: 1)
                        .childChannelOption(.recvAllocator, value: PipelinedRequests.usualReads)
                        .childChannelInitializer { channel in
                            prepare(channel).flatMapThrowing { peer in
                                try addHandlers(channel, peer)
                                if let order = connections.order { OpenConnections.pass(order, to: channel) }
                            }
                        }
                    switch place {
                    case .address(let host, let port):
                        return try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
                    case .descriptor(let descriptor): return try await bootstrap.withBoundSocket(descriptor).get()
                    }
                }, channel: { $0 }))
    }

    /// Opens the listening channel, which accepts nothing before `autoRead` is set.
    func open<Bound>(_ opening: Opening<Bound>) async throws(ListenerError.Reason) -> (Bound, BoundAddress) {
        // On a thread that may block.
        try await certificates?.load()
        if let inherited {
            // Its file, if it has one, is the giver's and stays.
            try InheritedDescriptor.check(inherited, against: configuration.address)
            let address = try InheritedDescriptor.address(of: inherited)
            let bound = try await open(at: .descriptor(inherited), opening)
            whenClosed(opening.channel(bound), remove: nil)
            return (bound, address)
        }
        switch configuration.address {
        case .tcp(let host, let port):
            let bound = try await open(at: .address(host: host, port: port), opening)
            let channel = opening.channel(bound)
            whenClosed(channel, remove: nil)
            return (bound, .tcp(host: host, port: channel.localAddress?.port ?? port))

        case .unix(let path, let mode):
            let (descriptor, file) = try UnixSocketFile.bind(path: path, mode: mode, group: try await socketGroup())
            do throws(ListenerError.Reason) {
                let bound = try await open(at: .descriptor(descriptor), opening)
                whenClosed(opening.channel(bound), remove: file)
                socketFile = file
                return (bound, .unix(path: path))
            } catch {
                file.remove()
                throw error
            }
        }
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

    private func open<Bound>(at place: Place, _ opening: Opening<Bound>) async throws(ListenerError.Reason) -> Bound {
        do {
            return try await opening.bind(bootstrap(place), place)
        } catch let error as IOError {
            throw ListenerError.Reason(errno: error.errnoCode)
        } catch {
            throw .other("\(error)")
        }
    }

    private nonisolated func bootstrap(_ place: Place) -> sending ServerBootstrap {
        let (configuration, connections, logger) = (configuration, connections, logger)
        return ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.maxMessagesPerRead, value: Self.acceptedAtOnce)
            .serverChannelInitializer { channel in
                // NIO gives a descriptor from elsewhere its own backlog before it looks at the option.
                if case .descriptor(let descriptor) = place {
                    listen(descriptor, Int32(clamping: configuration.backlog))
                }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptHandler(connections: connections, logger: logger))
                }
            }
    }

    /// What is done with every connection, whatever it speaks: TLS, and who is at the other end.
    func preparation() -> @Sendable (any Channel) -> EventLoopFuture<PeerRecord> {
        let (isUnix, certificates, logger) = (configuration.address.isUnix, certificates, logger)
        return { channel in
            let peer = PeerRecord()
            do {
                try certificates?.addHandlers(to: channel, peer, logger)
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
            // A client whose credentials the kernel does not tell is not served.
            let known = isUnix ? peer.noteCredentials(of: channel) : channel.eventLoop.makeSucceededVoidFuture()
            return known.map { peer }
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
                    on: EventLoopExecutor(turns, channel.eventLoop, limiter), connections, logger))
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
