import GRPCCore
import JSON
import NIOCore

/// A method that streams what its route lists: the route is asked again and again, from where it was, each time waiting for the
/// next event as a client of the REST face would.
///
/// So whoever is shut out meanwhile, or loses a scope, is told at the next look, after a minute at the latest.
struct EventWatch<Connection: GRPCConnection>: CallHandler {
    /// How long one look waits, in seconds; what the route takes at most is 60.
    private static var wait: Int64 { 55 }
    /// A wait that is shorter has been ended.
    private static var shortest: Duration { .milliseconds(100) }
    /// Events of one look.
    private static var limit: Int { 100 }

    private let method: ProtoMethod
    private let caller: RouteCaller<Connection>
    private let cursor: Int?

    let type = MethodDescriptor.RPCType.serverStreaming

    init(_ method: ProtoMethod, _ caller: RouteCaller<Connection>) {
        self.method = method
        self.caller = caller
        cursor = caller.contract.messages[method.input].fields.first { $0.jsonName == "after" }?.number
    }

    func handle(
        _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
        _ answers: CallAnswers<Connection>
    ) async throws {
        guard var message = try await messages.one() else { return try await answers.refuseCount() }
        var metadata = metadata
        // It bounds the stream, and not each look.
        let deadline = CallTimeout.read(metadata).map { ContinuousClock.now + $0 }
        metadata.removeAllValues(forKey: "grpc-timeout")
        var hasBegun = false
        // The first look waits for nothing, so that a client learns at once whether it may watch.
        var wait = 0
        while !call.isDraining {
            let started = ContinuousClock.now
            if let deadline, deadline <= started {
                return try await answers.end(CallStatus(code: .deadlineExceeded, message: "The call's time is over."))
            }
            let answer = await caller.ask(
                message, method, metadata, call,
                query: [("wait", UntrustedText(String(wait))), ("limit", UntrustedText(String(Self.limit)))])
            let requestID = answer.header("x-request-id")
            if let failure = caller.failure(answer) { return try await answers.end(failure, requestID: requestID) }
            guard let page = caller.object(answer), let next = page["cursor"]?.string?.streamSafe else {
                return try await answers.end(
                    CallStatus(code: .internalError, message: "Internal error."), requestID: requestID)
            }
            if !hasBegun { try await answers.begin(Self.head(next, requestID)) }
            hasBegun = true
            let events = page["events"]?.array ?? []
            for event in events.compactMap(\.object) {
                var writer = MessageWriter(caller.contract)
                try await answers.send(writer.bytes(of: event, as: method.output))
            }
            // Nobody ends a wait early but a server that is about to go, and says so soon.
            if events.isEmpty, wait > 0, started.duration(to: .now) < Self.shortest {
                try await Task.sleep(for: Self.shortest)
            }
            message = behind(next, message)
            let left = deadline.map { ContinuousClock.now.duration(to: $0).components.seconds + 1 } ?? Self.wait
            wait = Int(max(1, min(left, Self.wait)))
        }
        try await answers.end(Self.leaving)
    }

    /// What a client gets before the first event: where the stream begins.
    private static func head(_ cursor: String, _ requestID: String?) -> Metadata {
        var head: Metadata = ["event-cursor": .string(cursor)]
        if let requestID { head.addString(requestID, forKey: "x-request-id") }
        return head
    }

    private static var leaving: CallStatus {
        CallStatus(
            code: .unavailable, message: "The server is going; watch anew with the id of the last event as `after`.")
    }

    /// The same question from a cursor on, which takes the place of the start that was asked for.
    private func behind(_ next: String, _ message: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        var reader = WireReader(message)
        let input = caller.contract.messages[method.input]
        while let (number, value) = try? reader.next() {
            guard case .bytes(let range) = value, let place = input.place(ofNumber: number),
                input.fields[place].place == .path
            else { continue }
            writer.field(number, bytes: message[range])
        }
        if let cursor { writer.field(cursor, text: next) }
        return writer.bytes
    }
}
