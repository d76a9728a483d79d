import Foundation
import Synchronization

/// A clock that stands still until it is moved.
final class TestClock: Sendable {
    private let time: Mutex<Date>

    /// Starts at a full hour, so that windows of rate limits begin with the test.
    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { time = Mutex(start) }

    var now: Date { time.withLock { $0 } }

    var milliseconds: Int64 { Int64(now.timeIntervalSince1970 * 1000) }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
