import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL

extension Listener {
    /// Opens the listening channel, which accepts nothing before `autoRead` is set.
    func open() async throws(ListenerError.Reason) -> (any Channel, BoundAddress) {
        let tls = try await tlsContext()
        // A socket that the service manager hands over becomes a third case: its descriptor goes the way of a Unix
        // socket's, while its file, if it has one, stays.
        switch configuration.address {
        case .tcp(let host, let port):
            let channel = try await open(tls: tls) { bootstrap in
                try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
            }
            whenClosed(channel, remove: nil)
            return (channel, .tcp(host: host, port: channel.localAddress?.port ?? port))

        case .unix(let path, let mode):
            let (descriptor, file) = try UnixSocketFile.bind(path: path, mode: mode)
            do throws(ListenerError.Reason) {
                let channel = try await open(descriptor: descriptor, tls: tls) { bootstrap in
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

    /// Reads the certificate on a thread that may block.
    private func tlsContext() async throws(ListenerError.Reason) -> NIOSSLContext? {
        guard let files = configuration.tls else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive { try files.makeContext() }
        } catch {
            throw (error as? ListenerError.Reason) ?? .other("\(error)")
        }
    }

    private func open(
        descriptor: Int32? = nil, tls: NIOSSLContext?, _ bind: (ServerBootstrap) async throws -> any Channel
    ) async throws(ListenerError.Reason) -> any Channel {
        do {
            return try await bind(bootstrap(descriptor: descriptor, tls: tls))
        } catch let error as IOError {
            throw ListenerError.Reason(errno: error.errnoCode)
        } catch {
            throw .other("\(error)")
        }
    }

    private func bootstrap(descriptor: Int32?, tls: NIOSSLContext?) -> ServerBootstrap {
        let (configuration, connections, logger) = (configuration, connections, logger)
        let (http, accepted) = (http, acceptedContinuation)
        return ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            // More than one at a time could exceed the limit, which is looked at before each read.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                // NIO gives a descriptor from elsewhere its own backlog before it looks at the option.
                if let descriptor { listen(descriptor, Int32(clamping: configuration.backlog)) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptHandler(
                            connections: connections, maximumConnections: configuration.maximumConnections,
                            logger: logger))
                }
            }
            .childChannelInitializer { channel in
                if let tls {
                    do {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                }
                return http.setup(channel: channel, logger: logger).flatMapThrowing { connection in
                    let handler = try channel.pipeline.syncOperations.handler(type: ConnectionGuard.self)
                    // Kept until it is closed: NIO stops the process when a connection is released that nobody has
                    // handled, which can be in the stream when a cancelled task no longer reads it.
                    channel.closeFuture.whenComplete { _ in withExtendedLifetime(connection) {} }
                    accepted.yield(
                        AcceptedConnection(http: connection, presence: handler.presence, slot: handler.slot))
                    if let order = connections.order { OpenConnections.pass(order, to: channel) }
                }
            }
    }

    private func whenClosed(_ channel: any Channel, remove file: UnixSocketFile?) {
        channel.closeFuture.whenComplete { [connections] _ in
            file?.remove()
            connections.acceptingHasEnded()
        }
    }
}

extension HTTP1Channel.Configuration {
    /// The limits of a listener as HummingbirdCore and our own handler take them.
    init(
        _ configuration: ListenerConfiguration, limiter: RequestLimiter,
        answeringOverload answerOverload: @escaping OverloadAnswer, logger: Logger
    ) {
        self.init(
            additionalChannelHandlers: [
                ConnectionGuard(
                    configuration: configuration, limiter: limiter, answeringOverload: answerOverload, logger: logger)
            ],
            idleTimeout: nil,
            httpDecoderConfiguration: DecoderConfiguration(
                maxHeaderFieldSize: configuration.maximumHeaderBytes,
                maxHeaderListSize: configuration.maximumHeaderBytes,
                maxHeaderFieldCount: configuration.maximumHeaderCount))
    }
}
