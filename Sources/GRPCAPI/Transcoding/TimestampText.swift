/// Times of RFC 3339 and seconds from 1970, without a calendar: both are counted in days of the proleptic Gregorian one.
enum TimestampText {
    /// The years 1 to 9999, which is what `google.protobuf.Timestamp` holds.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// A time in UTC, with as many thousandths as it has; nil for one that cannot be written.
    static func text(seconds: Int64, nanoseconds: Int64) -> String? {
        guard range.contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else { return nil }
        let day = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
        let second = seconds - day * 86_400
        let (year, month, dayOfMonth) = date(ofDay: day)
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
        text += "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        if nanoseconds != 0 {
            // Three digits, six or nine, as Protocol Buffers write them.
            let digits = padded(nanoseconds, 9)
            let shown = nanoseconds % 1_000_000 == 0 ? 3 : nanoseconds % 1000 == 0 ? 6 : 9
            text += "." + digits.prefix(shown)
        }
        return text + "Z"
    }

    /// Seconds and nanoseconds of a time with any offset; nil for a text that is none.
    static func parse(_ text: String) -> (seconds: Int64, nanoseconds: Int64)? {
        var bytes = Array(text.utf8)[...]
        func number(_ count: Int) -> Int64? {
            guard bytes.count >= count else { return nil }
            var value: Int64 = 0
            for byte in bytes.prefix(count) {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            bytes = bytes.dropFirst(count)
            return value
        }
        func skip(_ any: StaticString) -> Bool {
            guard let first = bytes.first, any.withUTF8Buffer({ $0.contains(first) }) else { return false }
            bytes = bytes.dropFirst()
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2), skip("Tt "),
            let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var nanoseconds: Int64 = 0
        if skip(".") {
            var unit: Int64 = 100_000_000
            guard let first = bytes.first, (0x30...0x39).contains(first) else { return nil }
            while let digit = number(1) {
                nanoseconds += digit * unit
                unit /= 10
            }
        }
        var offset: Int64 = 0
        if !skip("Zz") {
            let isWest = bytes.first == UInt8(ascii: "-")
            guard skip("+-"), let hours = number(2), skip(":"), let minutes = number(2) else { return nil }
            offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        }
        guard bytes.isEmpty else { return nil }
        let seconds = Self.day(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        guard range.contains(seconds) else { return nil }
        return (seconds, nanoseconds)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The day from 1970 of a date; years begin in March, so that the leap day is the last.
    private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
