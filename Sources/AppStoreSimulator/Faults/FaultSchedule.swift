import AppStoreAPI
import Foundation

/// The faults that are set, and which of them hit the next call: decided by counting and by a seeded generator alone.
///
/// The same calls in the same order meet the same faults for the same seed.
package struct FaultSchedule: Sendable {
    /// A fault that is set, with what is left of it.
    package struct Entry: Sendable {
        package let id: String
        package let fault: Fault
        /// How many more matching calls go by unharmed.
        package fileprivate(set) var skipsLeft: Int
        /// How many more calls are hit; nil for all.
        package fileprivate(set) var hitsLeft: Int?
        /// How many calls have been hit.
        package fileprivate(set) var hits = 0
    }

    package private(set) var seed: UInt64
    package private(set) var entries: [Entry] = []
    private var generator: SeededGenerator
    private var added = 0

    package init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    /// Begins the random numbers anew.
    package mutating func reseed(_ seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    /// Sets a fault.
    ///
    /// - Returns: Its id.
    package mutating func add(_ fault: Fault) -> String {
        added += 1
        let id = "fault-\(added)"
        entries.append(Entry(id: id, fault: fault, skipsLeft: fault.skip, hitsLeft: fault.count))
        return id
    }

    /// Removes a fault; false if there is none of that id.
    package mutating func remove(_ id: String) -> Bool {
        let count = entries.count
        entries.removeAll { $0.id == id }
        return entries.count < count
    }

    package mutating func removeAll() { entries = [] }

    /// Decides what goes wrong with a call.
    mutating func effects(
        on operation: Endpoint.Operation, bundleID: String?, environment: SimulatedEnvironment
    ) -> [Fault.Effect] {
        var effects: [Fault.Effect] = []
        for index in entries.indices {
            let fault = entries[index].fault
            guard (fault.environment ?? environment) == environment, (fault.operation ?? operation) == operation,
                fault.bundleID == nil || fault.bundleID == bundleID, entries[index].hitsLeft != 0
            else { continue }
            guard entries[index].skipsLeft == 0 else {
                entries[index].skipsLeft -= 1
                continue
            }
            // Drawn for every call that could be hit, so that one fault's luck does not depend on another's.
            guard fault.probability >= 1 || Double.random(in: 0..<1, using: &generator) < fault.probability else {
                continue
            }
            entries[index].hitsLeft = entries[index].hitsLeft.map { $0 - 1 }
            entries[index].hits += 1
            effects.append(fault.effect)
        }
        return effects
    }

    /// Random bytes that start with none of JSON's characters.
    mutating func garbage(count: Int) -> [UInt8] {
        [0xFF] + (1..<max(1, count)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

/// The faults that hit one call, put together.
struct CallFaults: Sendable {
    private let effects: [Fault.Effect]

    init(_ effects: [Fault.Effect]) { self.effects = effects }

    var names: [String] { effects.map(\.name) }

    /// The sum of all delays.
    var latency: Duration {
        effects.reduce(.zero) { sum, effect in
            if case .latency(let milliseconds) = effect { sum + .milliseconds(milliseconds) } else { sum }
        }
    }

    /// How wrong the clock is, in seconds.
    var clockSkew: TimeInterval {
        effects.reduce(0) { sum, effect in
            if case .clockSkew(let seconds) = effect { sum + TimeInterval(seconds) } else { sum }
        }
    }

    var resetsBefore: Bool { effects.contains(.connectionReset(afterProcessing: false)) }
    var resetsAfter: Bool { effects.contains(.connectionReset(afterProcessing: true)) }
    var isGarbage: Bool { effects.contains(.garbage) }
    var truncates: Bool { effects.contains(.truncatedBody) }

    /// The first way to tamper, since a transaction is signed once.
    var tampering: Tampering? {
        effects.lazy.compactMap { if case .tampering(let tampering) = $0 { tampering } else { nil } }.first
    }

    /// The first answer that stands in for the real one.
    var statusOutcome: AppleService.Outcome? {
        for effect in effects {
            if case .status(let status, let code, let message, let retryAfter) = effect {
                return Self.outcome(status, code, message, retryAfter)
            }
        }
        return nil
    }

    private static func outcome(
        _ status: Int, _ code: Int64?, _ message: String?, _ retryAfter: String?
    ) -> AppleService.Outcome {
        var response: OutgoingResponse
        if let code {
            let known = APIErrorCode(code: code)?.name
            let payload = ErrorPayload(errorCode: code, errorMessage: message ?? known ?? "Injected error.")
            response = .json(status, payload.serialized())
        } else if status == 401 {
            response = AppleServiceError.unauthenticated
        } else if status == 204 || status == 304 {
            // These never have a body (RFC 9110 section 6.4.1).
            response = OutgoingResponse(status: status)
        } else {
            response = .text(status, message ?? "status \(status)\n")
        }
        if let retryAfter { response.headers.append(("Retry-After", retryAfter)) }
        return AppleService.Outcome(response: response, errorCode: code, reason: "answered by a fault")
    }
}
