import GRPCCore
import JSON
import NIOCore

/// Calls routes for methods, and tells what they answer.
struct RouteCaller<Connection: GRPCConnection>: Sendable {
    let contract: ProtoContract
    private let answer: GRPCServing<Connection>.Answerer
    private let reader: RouteRequestReader
    private let statuses: CallStatusWriter

    init(_ contract: ProtoContract, _ answer: @escaping GRPCServing<Connection>.Answerer) {
        self.contract = contract
        self.answer = answer
        reader = RouteRequestReader(contract)
        statuses = CallStatusWriter(contract)
    }

    /// What a route answers to the message of a call.
    ///
    /// When nobody waits for the answer any more, the work on it is cancelled, as that for a client of the REST face that has gone.
    func ask(
        _ message: [UInt8], _ method: ProtoMethod, _ metadata: Metadata, _ call: OpenCall<Connection>,
        query: [(name: String, value: UntrustedText)] = []
    ) async -> RouteAnswer {
        let (answer, channel, connection, reader) = (answer, call.channel, call.connection, reader)
        // Its cost grows with the message.
        let work = Task(executorPreference: connection.taskExecutor(ofBodyBytes: message.count)) {
            await answer(reader.request(message, method, metadata, query: query), channel, connection)
        }
        call.whenCancelled { work.cancel() }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// The end of a call whose route has failed; nil where it has not.
    func failure(_ answer: RouteAnswer) -> CallStatus? {
        (200..<300).contains(answer.status) ? nil : statuses.status(of: answer)
    }

    /// The object that a route has answered with.
    func object(_ answer: RouteAnswer) -> JSONMembers? { try? JSONScanner.members(of: answer.body) }
}

/// A method with one message and one answer: one request of its route.
struct RouteCall<Connection: GRPCConnection>: CallHandler {
    private let method: ProtoMethod
    private let caller: RouteCaller<Connection>

    let type = MethodDescriptor.RPCType.unary

    init(_ method: ProtoMethod, _ caller: RouteCaller<Connection>) {
        self.method = method
        self.caller = caller
    }

    func handle(
        _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
        _ answers: CallAnswers<Connection>
    ) async throws {
        guard let message = try await messages.one() else { return try await answers.refuseCount() }
        let answer = await caller.ask(message, method, metadata, call)
        let requestID = answer.header("x-request-id")
        if let failure = caller.failure(answer) { return try await answers.end(failure, requestID: requestID) }
        guard let object = caller.object(answer) else {
            return try await answers.end(
                CallStatus(code: .internalError, message: "Internal error."), requestID: requestID)
        }
        var writer = MessageWriter(caller.contract)
        let bytes = writer.bytes(of: object, as: method.output)
        try await answers.answer(Self.metadata(of: answer), bytes)
    }

    /// What the head of the route's answer says besides: `http-status` where that is not 200, as of what was made or goes on.
    private static func metadata(of answer: RouteAnswer) -> Metadata {
        var metadata: Metadata = [:]
        for name in ["x-request-id", "location", "preference-applied"] {
            if let value = answer.header(name) { metadata.addString(value, forKey: name) }
        }
        if answer.status != 200 { metadata.addString(String(answer.status), forKey: "http-status") }
        return metadata
    }
}
