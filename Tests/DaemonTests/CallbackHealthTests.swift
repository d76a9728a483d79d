import Domain
import Foundation
import Testing

@testable import Daemon

/// How callbacks fare, in the words of the health details.
struct CallbackHealthTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func part(_ callbacks: [CallbackStatus], oldest: TimeInterval? = nil) -> HealthReport.Part {
        CallbackHealth(callbacks: callbacks, oldestPending: oldest.map { now - $0 }, now: now).part
    }

    private func status(
        _ id: String, _ reason: Callback.PauseReason? = nil, isPaused: Bool = false, waiting: Int = 0
    ) -> CallbackStatus {
        CallbackStatus(
            id: id, app: "coins", state: isPaused || reason != nil ? .paused : .active, pauseReason: reason,
            waiting: waiting)
    }

    @Test func `without one, and with active ones, all is well`() {
        #expect(part([]).isHealthy && part([]).detail == "none" && part([]).name == "callbacks")
        let two = part([status("a", waiting: 2), status("b", waiting: 1)], oldest: 7199)
        #expect(two.isHealthy)
        #expect(
            two.detail
                == "2 of them, 2 active; 3 events wait to be sent again; the oldest event not sent is 119 min old")
        #expect(part([status("a")], oldest: 7200).detail == "1 of them, 1 active; the oldest event not sent is 2 h old")
    }

    @Test(arguments: [
        (Callback.PauseReason.failing, "its receiver failed for three days: mend that, then PATCH it with"),
        (.gone, "its receiver answered 410: PATCH its url, or DELETE it"),
        (.requested, "at its owner's request: PATCH it with"),
    ])
    func `a paused one is a fault, with what to do about it`(reason: Callback.PauseReason, words: String) {
        let part = part([status("a"), status("b", reason)])
        #expect(!part.isHealthy)
        #expect(part.detail.contains("2 of them, 1 active; /v1/apps/coins/callbacks/b is paused"))
        #expect(part.detail.contains(words), "\(part.detail)")
    }

    @Test func `of many that are paused three are named`() {
        let detail = part((1...5).map { status("c\($0)", .gone) }).detail
        #expect(detail.contains("callbacks/c3 ") && !detail.contains("callbacks/c4 "))
        #expect(detail.hasSuffix("; 2 more are paused"))
    }
}
