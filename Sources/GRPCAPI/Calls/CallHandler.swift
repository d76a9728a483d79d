import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore

/// Serves the calls of one method.
protocol CallHandler<Connection>: Sendable {
    associatedtype Connection: GRPCConnection

    var type: MethodDescriptor.RPCType { get }

    /// Answers a call, to its status.
    ///
    /// - Throws: what went wrong with the stream; then there is nobody to be told.
    func handle(
        _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
        _ answers: CallAnswers<Connection>
    ) async throws
}

/// The messages of a client.
struct CallMessages {
    private var parts: HTTP2ServerTransport.Custom<HandedListener>.Inbound.AsyncIterator

    init(_ parts: HTTP2ServerTransport.Custom<HandedListener>.Inbound.AsyncIterator) { self.parts = parts }

    /// The next one; nil when the client has said that there are no more.
    mutating func next() async throws -> [UInt8]? {
        while let part = try await parts.next(isolation: #isolation) {
            if case .message(let bytes) = part { return bytes.withUnsafeBytes { Array($0) } }
        }
        return nil
    }

    /// The one message of a call that has one; nil if there is none, or more.
    mutating func one() async throws -> [UInt8]? {
        guard let message = try await next() else { return nil }
        var others = 0
        while try await next() != nil { others += 1 }
        return others == 0 ? message : nil
    }
}

/// Where the answers of a call go.
struct CallAnswers<Connection: GRPCConnection>: Sendable {
    private let outbound: HTTP2ServerTransport.Custom<HandedListener>.Outbound
    private let call: OpenCall<Connection>
    private let time: TimeAmount

    /// `time`: how long the client may take to receive one.
    init(
        _ outbound: HTTP2ServerTransport.Custom<HandedListener>.Outbound, _ call: OpenCall<Connection>, _ time: Duration
    ) {
        self.outbound = outbound
        self.call = call
        self.time = TimeAmount(time)
    }

    /// Begins an answer of several messages.
    func begin(_ metadata: Metadata = [:]) async throws {
        try await call.writing(within: time) { try await outbound.write(.metadata(metadata)) }
    }

    func send(_ message: [UInt8]) async throws {
        try await call.writing(within: time) { try await outbound.write(.message(GRPCNIOTransportBytes(message))) }
    }

    /// Answers with one message.
    func answer(_ metadata: Metadata, _ message: [UInt8]) async throws {
        try await call.writing(within: time) {
            try await outbound.write(contentsOf: [
                .metadata(metadata), .message(GRPCNIOTransportBytes(message)), .status(CallStatus.ok.status, [:]),
            ])
        }
    }

    func end(_ status: CallStatus, requestID: String? = nil) async throws {
        try await call.writing(within: time) {
            try await outbound.write(.status(status.status, status.trailers(requestID: requestID)))
        }
    }

    /// Tells a client that its call has one message, no fewer and no more.
    func refuseCount() async throws {
        try await end(CallStatus(code: .invalidArgument, message: "The call has one message, no fewer and no more."))
    }
}
