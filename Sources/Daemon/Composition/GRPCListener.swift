import Domain
import GRPCAPI
import HTTPAPI
import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import ServiceLifecycle
import Synchronization

extension Listeners {
    /// Whose routes a listener for gRPC serves: those of the listener of this name that speaks HTTP.
    enum Face: String {
        case api, admin
    }

    /// Binds a listener for gRPC: the same routes as another listener, behind another protocol.
    func addGRPC(_ name: String, _ settings: ListenerSettings?, of face: Face, to bound: inout Bound) async throws {
        guard let settings else { return }
        let options = RequestHandler.CurrentOptions(options(name, settings))
        let authenticator = face == .api ? Authenticator(services.access) : nil
        let handler = RequestHandler(
            options, routes: face == .api ? apiRoutes : adminRoutes, authenticator: authenticator, metrics: metrics,
            now: services.clock.now, makeRequestID: requestIDs.make, logger: logger)
        var listenerConfiguration = ListenerConfiguration(name, settings)
        listenerConfiguration.sharesRequestsByCaller = authenticator != nil
        let listener = Listener(
            configuration: listenerConfiguration, eventLoopGroup: eventLoops, turns: turns,
            inheriting: inherited[name], logger: logger)
        let times = listenerConfiguration
        let serving = GRPCServing<StreamedConnection>(
            .init(listener: face.rawValue, reflects: face == .admin || settings.reflection) {
                GRPCLimits(
                    maximumMessageBytes: options.value.maximumBodyBytes,
                    maximumMetadataBytes: min(listener.maximumHeaderBytes, GRPCLimits.mostMetadataBytes),
                    readTime: times.requestReadTimeout,
                    writeTime: times.responseWriteTimeout)
            }, try ProtoContract.current(), isReady: health.isReady, eventLoopGroup: eventLoops, logger: logger
        ) { request, channel, connection in
            await CallTranslation(handler).answer(request, channel, connection)
        }
        let source = Source(listener, usesTLS: settings.tls != nil)
        try await serving.bind(source)
        guard let address = source.address else { return }
        let service = GRPCListenerService(listener: listener, serve: serving.serve)
        note(listener, at: address, name, options, running: service, in: &bound)
    }
}

/// Where the calls come from.
private final class Source: GRPCConnectionSource {
    let usesTLS: Bool
    private let listener: Listener
    private let bound = Mutex<BoundAddress?>(nil)

    init(_ listener: Listener, usesTLS: Bool) {
        self.listener = listener
        self.usesTLS = usesTLS
    }

    /// Where it is bound, once it is.
    var address: BoundAddress? { bound.withLock(\.self) }

    func bind<Accepted: Sendable>(
        _ accept: @escaping @Sendable (any Channel, StreamedConnection) -> EventLoopFuture<Accepted>
    ) async throws -> NIOAsyncChannel<Accepted, Never> {
        let (connections, address) = try await listener.bind(accepting: accept)
        bound.withLock { $0 = address }
        return connections
    }
}

/// Runs a listener and the protocol on its connections.
private final class GRPCListenerService: Service {
    typealias Serve = @Sendable (_ whenReady: @escaping @Sendable () -> Void) async throws -> Void

    private let listener: Listener
    /// Let go of once it has run: the transport behind it must not outlive the event loops, to which it has something to say when
    /// it goes.
    private let serve: Mutex<Serve?>

    init(listener: Listener, serve: @escaping Serve) {
        self.listener = listener
        self.serve = Mutex(serve)
    }

    func run() async throws {
        guard let serve = serve.withLock({ $0.take() }) else { return }
        let (isReady, continuation) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await serve { continuation.finish() }
            }
            // Nothing is accepted before there are handlers for it.
            for await _ in isReady {}
            group.addTask { [listener] in try await listener.run() }
            try await group.waitForAll()
        }
    }
}

extension StreamedConnection: GRPCConnection {
    func callBegan() { requestBegan() }
    func callArrived(_ kind: GRPCCallKind) { requestArrived(RequestPhase(kind)) }
    func callEnded(_ kind: GRPCCallKind?) { requestEnded(kind.map(RequestPhase.init) ?? .arriving) }
}

extension StreamedConnection.RequestPhase {
    fileprivate init(_ kind: GRPCCallKind) {
        self =
            switch kind {
            case .work: .working
            case .watch: .waiting
            }
    }
}

/// Asks the routes of HTTP what calls of gRPC ask.
private struct CallTranslation: Sendable {
    private let handler: RequestHandler

    init(_ handler: RequestHandler) { self.handler = handler }

    func answer(_ call: RouteRequest, _ channel: any Channel, _ connection: StreamedConnection) async -> RouteAnswer {
        var head = HTTPRequest(
            method: HTTPRequest.Method(call.method) ?? .get, scheme: nil, authority: nil, path: call.target)
        for (name, value) in call.headers {
            if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
        }
        guard let slot = connection.slot(for: head) else {
            if let pause = connection.refuse() { try? await Task.sleep(for: pause) }
            let (head, body) = handler.shed(head)
            return Self.answer(head.status, head.headerFields, Array(body.readableBytesView))
        }
        defer { slot.giveBack() }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: call.body ?? [])))
        let response = await handler.respond(
            to: request, from: channel, provenBy: PeerIdentity(connection.peer), slot: slot,
            as: RequestHandler.Call(
                timeout: call.timeout,
                violations: call.faults.map { Violation(field: $0.field, rule: $0.rule, message: $0.message) },
                lacksApp: call.lacksApp))
        let body = CollectedBody()
        do {
            try await response.body.write(body)
        } catch is CollectedBody.TooLong {
            return Self.tooLarge
        } catch {
            // The REST face breaks its stream off then.
            return Self.brokenOff
        }
        return Self.answer(response.status, response.headers, body.bytes)
    }

    private static func answer(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: [UInt8]) -> RouteAnswer {
        RouteAnswer(
            status: status.code, headers: fields.map { ($0.name.canonicalName, $0.value) }, body: body)
    }

    /// What comes in pieces and ends in no message that a client would take.
    private static let tooLarge = RouteAnswer(
        status: 413, headers: [],
        body: Array(
            #"{"code":"INVALID_ARGUMENT","reason":"PAYLOAD_TOO_LARGE","detail":"The answer is larger than one message may be; ask the REST face, or for less."}"#
                .utf8))

    private static let brokenOff = RouteAnswer(
        status: 500, headers: [],
        body: Array(
            #"{"code":"INTERNAL","reason":"INTERNAL_ERROR","detail":"The answer could not be read to its end."}"#.utf8))
}

/// Takes an answer whole, as it becomes one message.
private final class CollectedBody: ResponseBodyWriter {
    struct TooLong: Error {}

    /// The longest answer, in bytes of JSON.
    private static let maximumBytes = 64 << 20

    // Written by one task at a time: the answer's own.
    nonisolated(unsafe) private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws {
        guard bytes.count + buffer.readableBytes <= Self.maximumBytes else { throw TooLong() }
        bytes.append(contentsOf: buffer.readableBytesView)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
