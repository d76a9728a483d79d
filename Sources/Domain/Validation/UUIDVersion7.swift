package import Foundation

/// UUIDs whose order is the order of their creation.
///
/// Source: RFC 9562 section 5.7
package enum UUIDVersion7 {
    /// A UUID of a given time, to the millisecond; the rest is random.
    package static func make(at date: Date) -> String {
        var generator = SystemRandomNumberGenerator()
        return make(
            milliseconds: UInt64(max(0, date.milliseconds)),
            random: (generator.next(), generator.next()))
    }

    package static func make(milliseconds: UInt64, random: (UInt64, UInt64)) -> String {
        let high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 >> 2
        return UUIDText.text(high: high, low: low)
    }
}

/// UUIDs made of something else, such as the digest of what they name.
///
/// Source: RFC 9562 section 5.8
enum UUIDVersion8 {
    /// The UUID of these bits, all but those of version and variant.
    static func text(high: UInt64, low: UInt64) -> String {
        UUIDText.text(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}

/// The text of a UUID.
private enum UUIDText {
    static func text(high: UInt64, low: UInt64) -> String {
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
