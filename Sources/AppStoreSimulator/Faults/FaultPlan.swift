import AppStoreAPI
import Foundation

/// The faults that hit one call, put together.
struct FaultPlan: Sendable {
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
            response = Refusal.unauthenticated
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
