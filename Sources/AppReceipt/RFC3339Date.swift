import Foundation

/// Reads times of RFC 3339, section 5.6, from bytes: a large receipt holds tens of thousands.
enum RFC3339Date {
    /// Reads a time such as `2013-08-01T07:00:00Z`.
    ///
    /// Offsets may lack their colon, as ISO 8601 allows and Xcode writes them; fractions of a second are kept.
    ///
    /// - Returns: The time, or nil if the text is anything else.
    static func parse(_ bytes: [UInt8], _ range: Range<Int>) -> Date? {
        guard range.upperBound <= bytes.count else { return nil }
        var text = Cursor(position: range.lowerBound, end: range.upperBound)
        guard let year = text.digits(4, bytes), text.take("-", bytes), let month = text.digits(2, bytes),
            text.take("-", bytes), let day = text.digits(2, bytes), text.take("T", bytes) || text.take("t", bytes),
            let hour = text.digits(2, bytes), text.take(":", bytes), let minute = text.digits(2, bytes),
            text.take(":", bytes), let second = text.digits(2, bytes),
            (1...12).contains(month), day >= 1, day <= days(ofMonth: month, year), hour < 24, minute < 60,
            // A leap second counts as the one after it.
            second <= 60, let fraction = text.fraction(bytes), let offset = text.offset(bytes),
            text.position == text.end
        else { return nil }
        let seconds =
            daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    private static func days(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts days of the Gregorian calendar, in years that begin with March, so that the leap day is the last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct Cursor {
        var position: Int
        let end: Int

        @inline(__always)
        mutating func take(_ character: Unicode.Scalar, _ bytes: [UInt8]) -> Bool {
            guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        @inline(__always)
        mutating func digits(_ count: Int, _ bytes: [UInt8]) -> Int? {
            guard end - position >= count else { return nil }
            var number = 0
            for index in position..<(position + count) {
                let digit = bytes[index] &- UInt8(ascii: "0")
                guard digit <= 9 else { return nil }
                number = number * 10 + Int(digit)
            }
            position += count
            return number
        }

        /// A fraction of a second, 0 without one.
        mutating func fraction(_ bytes: [UInt8]) -> Double? {
            guard take(".", bytes) else { return 0 }
            guard let first = digits(1, bytes) else { return nil }
            var fraction = Double(first) / 10
            var weight = 0.01
            while let digit = digits(1, bytes) {
                fraction += Double(digit) * weight
                weight /= 10
            }
            return fraction
        }

        /// Seconds that local time is ahead of UTC.
        mutating func offset(_ bytes: [UInt8]) -> Int? {
            if take("Z", bytes) || take("z", bytes) { return 0 }
            let isAhead = take("+", bytes)
            guard isAhead || take("-", bytes), let hours = digits(2, bytes) else { return nil }
            _ = take(":", bytes)
            guard let minutes = digits(2, bytes), hours < 24, minutes < 60 else { return nil }
            return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }
}
