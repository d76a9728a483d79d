import Domain
import Foundation

/// How callbacks fare, in words for the health details: what is paused, and how long the oldest event waits.
struct CallbackHealth {
    /// How many paused callbacks are named.
    private static let maximumNamed = 3

    let callbacks: [CallbackStatus]
    /// When the oldest event happened that any of them was not sent.
    let oldestPending: Date?
    let now: Date

    /// Reads the store for the part; one that fails is an unhealthy part.
    static func part(_ store: any CallbackStore, now: Date) async -> HealthReport.Part {
        do throws(ServiceError) {
            let callbacks = try await store.callbackStates()
            var oldest: Date?
            for callback in callbacks {
                guard let pending = try await store.oldestPendingEvent(callback: callback.id) else { continue }
                oldest = min(oldest ?? pending, pending)
            }
            return CallbackHealth(callbacks: callbacks, oldestPending: oldest, now: now).part
        } catch {
            return HealthReport.Part(name: "callbacks", isHealthy: false, detail: error.message)
        }
    }

    /// Unhealthy while one is paused: what happens meanwhile is kept for as long as events are, and then it is lost to the receiver.
    var part: HealthReport.Part {
        guard !callbacks.isEmpty else { return HealthReport.Part(name: "callbacks", isHealthy: true, detail: "none") }
        let paused = callbacks.filter { $0.state == .paused }
        let waiting = callbacks.reduce(0) { $0 + $1.waiting }
        var pieces = ["\(callbacks.count) of them, \(callbacks.count - paused.count) active"]
        if waiting > 0 { pieces.append("\(waiting) events wait to be sent again") }
        if let oldestPending {
            pieces.append("the oldest event not sent is \(Self.age(of: oldestPending, at: now)) old")
        }
        pieces += paused.prefix(Self.maximumNamed).map(Self.remedy)
        if paused.count > Self.maximumNamed { pieces.append("\(paused.count - Self.maximumNamed) more are paused") }
        return HealthReport.Part(name: "callbacks", isHealthy: paused.isEmpty, detail: pieces.joined(separator: "; "))
    }

    /// Why one is paused, and what its owner does about it.
    private static func remedy(_ callback: CallbackStatus) -> String {
        let path = "/v1/apps/\(callback.app)/callbacks/\(callback.id)"
        let resume = #"PATCH it with {"state": "active"}"#
        return switch callback.pauseReason {
        case .failing: "\(path) is paused, as its receiver failed for three days: mend that, then \(resume)"
        case .gone: "\(path) is paused, as its receiver answered 410: PATCH its url, or DELETE it"
        case .requested, nil: "\(path) is paused at its owner's request: \(resume) before events are kept no more"
        }
    }

    private static func age(of date: Date, at now: Date) -> String {
        let minutes = Int(max(0, now.timeIntervalSince(date)) / 60)
        return minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h"
    }
}
