import Domain
import Foundation

/// RFC 3339 times in UTC with milliseconds, such as `2026-01-31T12:00:00.250Z`.
enum Timestamp {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let wholeSeconds = Date.ISO8601FormatStyle()

    /// The style cuts off what is below a millisecond, and few whole milliseconds are exact in a `Date`: half a one is added,
    /// so that the nearest is written.
    static func text(_ date: Date) -> String { date.addingTimeInterval(0.000_5).formatted(style) }

    /// The years 0001 to 9999, beyond which nothing can be written, in seconds from 1970: an offset may lead beyond them.
    private static let writable = -62_135_596_800.0..<253_402_300_800

    /// Reads a time to the nearest millisecond, with or without fractions of a second and with any offset.
    static func date(_ text: String) -> Date? {
        guard isInRange(text), let date = (try? style.parse(text)) ?? (try? wholeSeconds.parse(text)) else {
            return nil
        }
        let rounded = date.roundedToMilliseconds
        return writable.contains(rounded.timeIntervalSince1970) ? rounded : nil
    }

    /// Whether month, day, hour, minute, second and offset are such as there are: the style takes a 99th minute for one and a
    /// half hours (RFC 3339 section 5.7).
    private static func isInRange(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        func number(_ places: Range<Int>) -> Int? {
            guard places.upperBound <= bytes.count else { return nil }
            return Int(String(decoding: bytes[places], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), day >= 1, hour <= 23, minute <= 59, second <= 60
        else { return false }
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return false }
        guard let last = bytes.last, last != UInt8(ascii: "Z"), last != UInt8(ascii: "z") else { return true }
        let end = bytes.count
        guard end >= 25, let offsetHour = number(end - 5..<end - 3), let offsetMinute = number(end - 2..<end) else {
            return false
        }
        return offsetHour <= 23 && offsetMinute <= 59
    }
}
