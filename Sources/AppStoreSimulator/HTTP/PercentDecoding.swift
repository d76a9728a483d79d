/// Percent-decoding by RFC 3986 section 2.1; a percent sign without two hexadecimal digits stays what it is.
enum PercentDecoding {
    static func decode(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String {
        var decoded: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "+"), plusIsBlank {
                decoded.append(UInt8(ascii: " "))
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, let high = digit(digits.first), let low = digit(digits.last) else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte: byte - UInt8(ascii: "0")
        case .some(let byte) where UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte: byte - UInt8(ascii: "a") + 10
        case .some(let byte) where UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte: byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
