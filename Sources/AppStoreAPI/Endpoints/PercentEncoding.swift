/// Percent-encoding that leaves nothing but the unreserved characters of RFC 3986 section 2.3 as they are.
enum PercentEncoding {
    /// Encodes the UTF-8 bytes of a text.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexadecimal(byte >> 4))
                encoded.append(hexadecimal(byte & 15))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes one segment of a path.
    ///
    /// A segment of one or two dots would be taken for a step within the path (RFC 3986 section 5.2.4), so its dots are encoded too.
    static func encode(pathSegment: String) -> String {
        pathSegment == "." || pathSegment == ".."
            ? String(repeating: "%2E", count: pathSegment.utf8.count) : encode(pathSegment)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}
