package import Foundation

/// One attribute of an app receipt: type, version and value.
package struct IssuedAttribute: Sendable, Equatable {
    /// Its number.
    package var type: Int64
    /// Always 1 in Apple's receipts.
    package var version: Int64
    /// The octets of its value, which for most types are DER themselves.
    package var value: [UInt8]

    /// An attribute with the value's octets as they are.
    package init(type: Int64, version: Int64 = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    /// With a UTF8String.
    package static func utf8(_ type: Int64, _ text: String) -> IssuedAttribute {
        IssuedAttribute(type: type, value: DER.element(DER.utf8String, Array(text.utf8)))
    }

    /// With an INTEGER.
    package static func integer(_ type: Int64, _ number: Int64) -> IssuedAttribute {
        IssuedAttribute(type: type, value: DER.integer(number))
    }

    /// With an IA5String.
    package static func ia5(_ type: Int64, _ text: String) -> IssuedAttribute {
        IssuedAttribute(type: type, value: DER.element(DER.ia5String, Array(text.utf8)))
    }

    /// With an IA5String of a date (RFC 3339, whole seconds); empty if there is none.
    package static func date(_ type: Int64, _ date: Date?) -> IssuedAttribute {
        let whole = date.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down)) }
        return ia5(type, whole.map { $0.formatted(dateStyle) } ?? "")
    }

    private static let dateStyle = Date.ISO8601FormatStyle()

    /// What Apple puts into receipts and names in no guide, with values of the kinds that are found there.
    package static let unnamed: [IssuedAttribute] = [
        IssuedAttribute(type: 6, value: Array(0..<61)), IssuedAttribute(type: 7, value: Array(0..<83)),
        integer(9, 20_000), ia5(10, "4+"), integer(11, 0), integer(13, 9_000), integer(14, 113), integer(15, 0),
        integer(16, 0), integer(25, 3), IssuedAttribute(type: 20, value: DER.element(DER.utf8String, [])),
    ]

    /// A SET of attributes in the given order, which Apple does not sort either.
    package static func set(_ attributes: [IssuedAttribute]) -> [UInt8] {
        var content: [UInt8] = []
        for attribute in attributes {
            let members =
                DER.integer(attribute.type) + DER.integer(attribute.version)
                + DER.element(DER.octetString, attribute.value)
            DER.append(DER.sequence, members, to: &content)
        }
        return DER.element(DER.set, content)
    }
}

/// The little of the Distinguished Encoding Rules (X.690) that a receipt's content is made of.
enum DER {
    static let octetString: UInt8 = 0x04
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    private static let integerTag: UInt8 = 0x02

    /// Appends tag, length and content.
    static func append(_ tag: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(tag)
        if content.count < 0x80 {
            bytes.append(UInt8(content.count))
        } else {
            let digits = bigEndian(content.count).drop { $0 == 0 }
            bytes.append(0x80 | UInt8(digits.count))
            bytes += digits
        }
        bytes += content
    }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        append(tag, content, to: &bytes)
        return bytes
    }

    /// An INTEGER in its shortest form.
    static func integer(_ number: Int64) -> [UInt8] {
        var digits = bigEndian(Int(number))[...]
        while digits.count > 1, let first = digits.first, let second = digits.dropFirst().first,
            (first == 0 && second < 0x80) || (first == 0xFF && second >= 0x80)
        {
            digits.removeFirst()
        }
        return element(integerTag, Array(digits))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
}
