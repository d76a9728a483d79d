import GRPCCore
import JSON
import NIOCore
import Synchronization

/// The values of `grpc.health.v1.HealthCheckResponse.ServingStatus`.
private enum ServingStatus {
    static let serving: UInt64 = 1
    static let notServing: UInt64 = 2
    static let unknown: UInt64 = 3
}

/// `grpc.health.v1.Health`: whether the daemon serves, as `/readyz` tells it; for each service the same, since all stand on one
/// store.
///
/// Source: health.proto and "GRPC Health Checking Protocol" of gRPC. Nobody is asked who it is, as at the listener `health`.
struct HealthCalls<Connection: GRPCConnection>: Sendable {
    /// How often whoever watches is told of a change.
    private static var interval: Duration { .seconds(1) }

    /// The most that is read of a service's name, in bytes.
    private static var maximumNameBytes: Int { 256 }

    private let services: Set<UntrustedText>
    private let readiness: SharedReadiness

    init(services: Set<String>, isReady: @escaping @Sendable () async -> Bool) {
        self.services = Set(services.map(UntrustedText.init(_:)) + ["", "grpc.health.v1.Health"])
        readiness = SharedReadiness(isReady, for: Self.interval)
    }

    var handlers: [(path: String, handler: any CallHandler<Connection>)] {
        [("grpc.health.v1.Health/Check", Check(health: self)), ("grpc.health.v1.Health/Watch", Watch(health: self))]
    }

    /// The service that is asked about; nil for a message that is none.
    private static func service(_ message: [UInt8]) -> UntrustedText? {
        var reader = WireReader(message)
        var service: UntrustedText = ""
        do {
            while let (number, value) = try reader.next() {
                guard number == 1, case .bytes(let range) = value else { continue }
                // A longer name is no service's.
                service = UntrustedText(decoding: message[range].prefix(maximumNameBytes))
            }
        } catch { return nil }
        return service
    }

    private static func message(_ status: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.field(1, varint: status)
        return writer.bytes
    }

    private func status(of service: UntrustedText) async -> UInt64 {
        guard services.contains(service) else { return ServingStatus.unknown }
        return await readiness.value() ? ServingStatus.serving : ServingStatus.notServing
    }

    private struct Check: CallHandler {
        let health: HealthCalls
        let type = MethodDescriptor.RPCType.unary

        func handle(
            _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
            _ answers: CallAnswers<Connection>
        ) async throws {
            guard let message = try await messages.one(), let service = service(message) else {
                return try await answers.refuseCount()
            }
            let status = await health.status(of: service)
            guard status != ServingStatus.unknown else {
                return try await answers.end(CallStatus(code: .notFound, message: "There is no such service."))
            }
            try await answers.answer([:], HealthCalls.message(status))
        }
    }

    private struct Watch: CallHandler {
        let health: HealthCalls
        let type = MethodDescriptor.RPCType.serverStreaming

        func handle(
            _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
            _ answers: CallAnswers<Connection>
        ) async throws {
            guard let message = try await messages.one(), let service = service(message) else {
                return try await answers.refuseCount()
            }
            try await answers.begin()
            var told: UInt64?
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            call.whenCancelled { continuation.finish() }
            call.whenDraining { continuation.finish() }
            while true {
                let status = await health.status(of: service)
                if status != told { try await answers.send(HealthCalls.message(status)) }
                told = status
                guard await Self.sleep(until: ends) else { break }
            }
            try await answers.end(CallStatus(code: .unavailable, message: "The server is going; watch anew."))
        }

        /// Waits for the next look; false when there is to be none.
        private static func sleep(until ends: AsyncStream<Void>) async -> Bool {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask { (try? await Task.sleep(for: interval)) != nil }
                group.addTask {
                    for await _ in ends {}
                    return false
                }
                let goesOn = await group.next() ?? false
                group.cancelAll()
                return goesOn
            }
        }
    }
}

/// What all who ask within a while are told, so that many of them cost one look.
private final class SharedReadiness: Sendable {
    private let isReady: @Sendable () async -> Bool
    private let lifetime: Duration
    private let latest = Mutex<(value: Bool, at: ContinuousClock.Instant)?>(nil)

    init(_ isReady: @escaping @Sendable () async -> Bool, for lifetime: Duration) {
        self.isReady = isReady
        self.lifetime = lifetime
    }

    func value() async -> Bool {
        let now = ContinuousClock.now
        if let known = latest.withLock(\.self), known.at.duration(to: now) < lifetime / 2 { return known.value }
        let value = await isReady()
        latest.withLock { $0 = (value, now) }
        return value
    }
}
