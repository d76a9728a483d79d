import Domain
import Foundation
import TestSupport

/// Clocks which stand still until a test moves them on.
final class TestClock: Sendable {
    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    let manual = ManualClock()
    private let start = ContinuousClock.now

    var instant: ContinuousClock.Instant { start + manual.now.offset }

    /// The instant so long from now.
    func after(_ duration: Duration) -> ContinuousClock.Instant { instant + duration }

    /// The same by a clock that Apple's answers can put right.
    func service(_ steady: SteadyClock?) -> ServiceClock {
        steady.map { steady in
            ServiceClock(
                steady, monotonicNow: { [self] in instant },
                sleep: { [manual] in try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil) })
        } ?? service
    }

    var service: ServiceClock {
        ServiceClock(
            now: { [self] in Self.date.addingTimeInterval(Double(manual.now.offset.components.seconds)) },
            monotonicNow: { [self] in instant },
            sleep: { [manual] in try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil) })
    }
}
