import Domain
import Foundation
import Synchronization

/// The `Date` header, formatted once a second (RFC 9110 section 5.6.7).
final class HTTPDateClock: Sendable {
    private struct Formatted {
        var second: Int64
        var text: String
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let now: WallClock
    private let cached = Mutex(Formatted(second: .min, text: ""))

    init(now: @escaping WallClock) { self.now = now }

    func text() -> String {
        let second = Int64(now().timeIntervalSince1970.rounded(.down))
        return cached.withLock { cached in
            if cached.second != second { cached = Formatted(second: second, text: Self.format(second)) }
            return cached.text
        }
    }

    /// An IMF-fixdate from a UNIX time; the calendar arithmetic is that of the proleptic Gregorian calendar.
    static func format(_ second: Int64) -> String {
        let date = Date(timeIntervalSince1970: TimeInterval(second))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func padded(_ value: Int?, _ width: Int) -> String {
            let digits = String(value ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let dayNumber = Int((second / 86_400) - (second % 86_400 < 0 ? 1 : 0))
        let weekday = days[((dayNumber % 7) + 7) % 7]
        let time = [parts.hour, parts.minute, parts.second].map { padded($0, 2) }.joined(separator: ":")
        return
            "\(weekday), \(padded(parts.day, 2)) \(months[(parts.month ?? 1) - 1]) \(padded(parts.year, 4)) \(time) GMT"
    }
}
