import Foundation

@testable import JSON

/// Our JSON beside Foundation's: the same documents, and the same meaning.
let jsonTargets = [
    FuzzTarget(name: "json") { bytes in
        guard !JSONAgreement.isOtherEncoding(bytes) else {
            return try hold((try? JSONValue(parsing: bytes)) == nil, "something other than plain UTF-8 is accepted")
        }
        let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        let ours: JSONValue
        do throws(JSONError) {
            ours = try JSONValue(parsing: bytes)
        } catch {
            try hold(theirs == nil || JSONAgreement.isStricter(error, bytes), "only Foundation accepts it: \(error)")
            try hold((try? JSONScanner.members(of: bytes)) == nil, "only the scanner accepts it: \(error)")
            return
        }
        if let theirs {
            try hold(JSONAgreement.same(ours, theirs), "it means something else to Foundation")
        } else {
            try hold(JSONAgreement.isLooser(ours), "only we accept it")
        }
        for pretty in [false, true] {
            try hold(
                try JSONValue(parsing: ours.serialized(pretty: pretty)) == ours, "what is written is another value")
        }
        guard ours.kind == .object else { return }
        let members = try JSONScanner.members(of: bytes)
        try hold(
            members.keys.map(\.streamSafe).map(Array.init) == (ours.object?.keys ?? []).map(Array.init),
            "the scanner has other names")
        for (name, slice) in members {
            // `checked` is nil for what a request reader rejects.
            guard let name = name.checked else { continue }
            try JSONAgreement.compare(slice, members[name], slice.value)
        }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, slice) in members { writer.memberRaw(name, slice.rawBytes) }
        }
        try hold(try JSONValue(parsing: writer.bytes) == ours, "spliced it is another value")
    },
    FuzzTarget(name: "json-text") { bytes in
        // Any text is written so that it is read again, as a name and as a value.
        let text = UntrustedText(decoding: bytes).streamSafe
        var object = JSONObject()
        object[text] = .string(text)
        let written = JSONValue.object(object).serialized()
        try hold(try JSONValue(parsing: written) == .object(object), "a text is read otherwise than it was written")
        let theirs = try JSONSerialization.jsonObject(with: Data(written)) as? [String: String]
        try hold(theirs?.first.map { JSONAgreement.same(text, $0.key) } == true, "Foundation reads another name")
        try hold(theirs?.first.map { JSONAgreement.same(text, $0.value) } == true, "Foundation reads another text")
    },
]

/// What is the same to us and to Foundation, and what is not.
private enum JSONAgreement {
    /// Whether Foundation would take the bytes for UTF-16 or UTF-32, or pass over a byte order mark; to us all that is an error.
    static func isOtherEncoding(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(4).contains(0)
            || [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]].contains { bytes.starts(with: $0) }
    }

    /// What Foundation lets through and we do not: names that repeat, nesting beyond our limit, and a comma behind the last member.
    static func isStricter(_ error: JSONError, _ bytes: [UInt8]) -> Bool {
        switch error.reason {
        case .duplicateKey, .depthExceeded: return true
        case .unexpectedCharacter:
            let before = bytes[..<error.offset].last { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            return "}]".utf8.contains(bytes[error.offset]) && before == UInt8(ascii: ",")
        default: return false
        }
    }

    /// What we let through and Foundation does not: numbers that no double can hold.
    static func isLooser(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): number.double == nil
        case .array(let elements): elements.contains(where: isLooser)
        case .object(let object): object.members.contains { isLooser($0.value) }
        case .string, .bool, .null: false
        }
    }

    /// Foundation drops a byte order mark that follows an escape.
    static func same(_ ours: String, _ theirs: String) -> Bool {
        let marked = [ours, UntrustedText(theirs).streamSafe].map { $0.unicodeScalars.filter { $0 != "\u{FEFF}" } }
        return marked[0].elementsEqual(marked[1])
    }

    static func same(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let value): return theirs as? Bool == value
        case .string(let value): return (theirs as? String).map { same(value, $0) } == true
        case .number(let number):
            guard let other = theirs as? NSNumber else { return false }
            // With a fraction or an exponent Foundation has a double, whatever it comes to.
            let isPlain = number.text.utf8.allSatisfy { !".eE".utf8.contains($0) }
            guard isPlain, let integer = number.int64 else { return nearlyEqual(number.double, other.doubleValue) }
            return integer == other.int64Value
        case .array(let elements):
            guard let others = theirs as? [Any], others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy(same)
        case .object(let object):
            // To Swift's dictionaries names are the same that are canonically equivalent.
            let names = Set(object.members.map(\.key))
            guard let others = theirs as? [String: Any] else { return false }
            // What makes a name stream-safe also makes it another than its equivalents, which are one name to Foundation.
            if object.members.contains(where: { $0.key.unicodeScalars.contains("\u{034F}") }) { return true }
            guard others.count == names.count else { return false }
            guard names.count == object.members.count else { return true }
            return object.members.allSatisfy { member in
                guard let other = others[member.key] else { return member.key.unicodeScalars.contains("\u{FEFF}") }
                return same(member.value, other)
            }
        }
    }

    /// Foundation reads fractions by way of its decimals, which may cost the last bits.
    private static func nearlyEqual(_ ours: Double?, _ theirs: Double) -> Bool {
        ours.map { $0 == theirs || abs($0 - theirs) <= 8 * $0.ulp } == true
    }

    /// Holds one member of the scanner against the same in a tree.
    static func compare(_ slice: JSONSlice, _ found: JSONSlice?, _ value: JSONValue?) throws {
        guard let value else { throw FuzzFinding(description: "a slice has no value") }
        try hold(found?.rawBytes == slice.rawBytes, "a name leads to another member")
        try hold(slice.kind == value.kind, "a slice is of another kind")
        try hold(
            slice.string.map { Array($0.streamSafe.utf8) } == value.string.map { Array($0.utf8) }, "another string")
        try hold(slice.int64 == value.int64 && slice.double == value.double, "another number")
        try hold(slice.bool == value.bool && slice.isNull == value.isNull, "another literal")
        try hold(slice.array?.compactMap(\.value) == value.array, "another array")
        try hold(slice.object?.compactMap(\.value.value) == value.object?.members.map(\.value), "another object")
        try hold(try JSONValue(parsing: Array(slice.rawBytes)) == value, "the bytes of a slice are another value")
    }
}
