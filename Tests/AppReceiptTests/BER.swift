/// Writes BER (X.690) in every form that a reader must take, and in some that it must not.
enum BER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    /// With an indefinite length, ended by two zeros.
    static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }

    static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let digits = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(digits.count)] + digits
    }

    static func integer(_ number: Int64) -> [UInt8] { element(0x02, withUnsafeBytes(of: number.bigEndian, Array.init)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
    static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
    static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, parts.flatMap { $0 }) }

    /// An octet string in pieces, the second of which is in pieces itself.
    static func pieces(_ content: [UInt8]) -> [UInt8] {
        let third = content.count / 3
        return indefinite(
            0x24,
            octets(Array(content[..<third]))
                + element(0x24, octets(Array(content[third..<(2 * third)])) + octets(Array(content[(2 * third)...]))))
    }

    /// An attribute whose value is given in BER, or its octet string is.
    static func attribute(_ type: Int64, _ value: [UInt8], version: Int64 = 1) -> [UInt8] {
        sequence(integer(type), integer(version), octets(value))
    }

    /// What every receipt has, and more.
    static func content(_ attributes: [[UInt8]] = []) -> [UInt8] {
        set([attribute(2, utf8("com.example.coins")), attribute(12, ia5("2025-06-15T15:06:40Z"))] + attributes)
    }

    static func purchase(_ attributes: [[UInt8]]) -> [UInt8] { attribute(17, set(attributes)) }

    /// A container around a content, with nothing that anybody has signed.
    static func container(_ octetString: [UInt8]) -> [UInt8] {
        let signedDataType: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let dataType: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        let signedData = sequence(
            element(0x02, [1]), set([]), sequence(dataType, element(0xA0, octetString)), set([]))
        return sequence(signedDataType, element(0xA0, signedData))
    }
}
