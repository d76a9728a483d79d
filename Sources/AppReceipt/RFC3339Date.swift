import Foundation

/// Reads times of RFC 3339, section 5.6, from bytes: a large receipt holds tens of thousands.
enum RFC3339Date {
    /// Reads a time such as `2013-08-01T07:00:00Z`.
    ///
    /// Offsets may lack their colon, as ISO 8601 allows and Xcode writes them; fractions of a second are kept.
    ///
    /// - Returns: The time, or nil if the text is anything else.
    static func parse(_ text: ArraySlice<UInt8>) -> Date? {
        var text = Text(rest: text)
        guard let year = text.digits(4), text.take("-"), let month = text.digits(2), text.take("-"),
            let day = text.digits(2), text.take("T") || text.take("t"), let hour = text.digits(2), text.take(":"),
            let minute = text.digits(2), text.take(":"), let second = text.digits(2),
            (1...12).contains(month), day >= 1, day <= days(ofMonth: month, year), hour < 24, minute < 60,
            // A leap second counts as the one after it.
            second <= 60, let fraction = text.fraction(), let offset = text.offset(), text.rest.isEmpty
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

    private struct Text {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func digits(_ count: Int) -> Int? {
            guard rest.count >= count else { return nil }
            var number = 0
            for byte in rest.prefix(count) {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
            }
            rest = rest.dropFirst(count)
            return number
        }

        /// A fraction of a second, 0 without one.
        mutating func fraction() -> Double? {
            guard take(".") else { return 0 }
            var fraction = 0.0
            var weight = 0.1
            guard let first = digits(1) else { return nil }
            fraction += Double(first) * weight
            while let digit = digits(1) {
                weight /= 10
                fraction += Double(digit) * weight
            }
            return fraction
        }

        /// Seconds that local time is ahead of UTC.
        mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let isAhead = take("+")
            guard isAhead || take("-"), let hours = digits(2) else { return nil }
            _ = take(":")
            guard let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
            return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }
}
