/// A position in a document that only moves forward, and only over valid JSON.
///
/// Every reader of this module (``JSONScanner``, ``JSONSlice``, ``JSONValue``) walks with it, so there is one grammar.
/// It lives inside the `withUnsafeBufferPointer` call that lends it the bytes.
///
/// Source: RFC 8259.
struct JSONCursor: ~Copyable {
    let bytes: UnsafeBufferPointer<UInt8>
    let maximumDepth: Int
    var index: Int
    /// The member names of all objects that are open, innermost last, to find names that repeat.
    var keys: [JSONKey] = []
    /// The names among `keys` that had to be unescaped.
    var unescapedKeys: [[UInt8]] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int = 0, maximumDepth: Int) {
        self.bytes = bytes
        self.index = index
        self.maximumDepth = min(maximumDepth, JSONLimits.highestDepth)
    }

    /// The error to throw for the byte under the cursor.
    func failure(_ reason: JSONError.Reason) -> JSONError {
        JSONError(index < bytes.count ? reason : .unexpectedEnd, offset: min(index, bytes.count))
    }

    mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case ASCII.space, ASCII.lineFeed, ASCII.carriageReturn, ASCII.tab: index += 1
            default: return
            }
        }
    }

    /// Moves past the byte if it is the next one.
    mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard take(byte) else { throw failure(.unexpectedCharacter) }
    }

    /// Requires that only white space is left.
    mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard index == bytes.count else { throw failure(.trailingData) }
    }

    /// Tells the kind of the value that starts under the cursor, by its first byte.
    func kind() throws(JSONError) -> JSONKind {
        guard index < bytes.count else { throw failure(.unexpectedEnd) }
        switch bytes[index] {
        case ASCII.quote: return .string
        case ASCII.openBrace: return .object
        case ASCII.openBracket: return .array
        case ASCII.minus, ASCII.zero...ASCII.nine: return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw failure(.unexpectedCharacter)
        }
    }

    /// Moves past one whole value, checking all of it.
    ///
    /// - Parameter depth: How many arrays and objects are open around the value.
    /// - Returns: The kind of the value.
    /// - Throws: ``JSONError`` at the first fault.
    mutating func skipValue(depth: Int) throws(JSONError) -> JSONKind {
        let kind = try kind()
        switch kind {
        case .string: _ = try skipString()
        case .number: try skipNumber()
        case .bool: try skipLiteral(bytes[index] == UInt8(ascii: "t") ? "true" : "false")
        case .null: try skipLiteral("null")
        case .array:
            try readArray(depth: depth) { (cursor: inout JSONCursor) throws(JSONError) in
                _ = try cursor.skipValue(depth: depth + 1)
            }
        case .object:
            try readObject(depth: depth) { (cursor: inout JSONCursor, _) throws(JSONError) in
                _ = try cursor.skipValue(depth: depth + 1)
            }
        }
        return kind
    }

    mutating func skipLiteral(_ word: StaticString) throws(JSONError) {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for letter in letters { try expect(letter) }
    }

    /// Walks the array under the cursor; `element` must move past one value each time it is called.
    @inline(__always)
    mutating func readArray(
        depth: Int, _ element: (inout JSONCursor) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard depth < maximumDepth else { throw failure(.depthExceeded) }
        index += 1
        skipWhitespace()
        if take(ASCII.closeBracket) { return }
        while true {
            try element(&self)
            skipWhitespace()
            guard take(ASCII.comma) else { return try expect(ASCII.closeBracket) }
            skipWhitespace()
        }
    }

    /// Walks the object under the cursor; `member` must move past one value each time it is called.
    @inline(__always)
    mutating func readObject(
        depth: Int, _ member: (inout JSONCursor, JSONKey) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard depth < maximumDepth else { throw failure(.depthExceeded) }
        if keys.capacity == 0 { keys.reserveCapacity(32) }
        let outerKeys = keys.count
        let outerUnescaped = unescapedKeys.count
        index += 1
        skipWhitespace()
        if take(ASCII.closeBrace) { return }
        repeat {
            skipWhitespace()
            let key = try readKey()
            skipWhitespace()
            try expect(ASCII.colon)
            skipWhitespace()
            keys.append(key)
            try member(&self, key)
            skipWhitespace()
        } while take(ASCII.comma)
        try expect(ASCII.closeBrace)
        try rejectDuplicates(among: outerKeys..<keys.count)
        keys.removeLast(keys.count - outerKeys)
        unescapedKeys.removeLast(unescapedKeys.count - outerUnescaped)
    }

    /// Moves past the number under the cursor.
    ///
    /// Source: RFC 8259, section 6.
    mutating func skipNumber() throws(JSONError) {
        _ = take(ASCII.minus)
        if !take(ASCII.zero) { try skipDigits() }
        if take(ASCII.point) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(ASCII.plus) { _ = take(ASCII.minus) }
            try skipDigits()
        }
        // What follows a whole number is the caller's concern, except a digit after a leading zero: say what is really
        // wrong.
        if index < bytes.count, ASCII.zero...ASCII.nine ~= bytes[index] { throw failure(.invalidNumber) }
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = index
        while index < bytes.count, ASCII.zero...ASCII.nine ~= bytes[index] { index += 1 }
        guard index > start else { throw failure(.invalidNumber) }
    }
}

/// The characters of JSON's grammar, as bytes.
enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let backspace: UInt8 = 0x08
    static let formFeed: UInt8 = 0x0C

    /// The digit's value, or nil for any other byte.
    static func hexadecimalValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case zero...nine: UInt32(byte - zero)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
