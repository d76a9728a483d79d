/// Builds a JSON document front to back into one array of bytes; commas are its business, not the caller's.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.object { writer in
///     writer.member("verified", true)
///     writer.memberRaw("transaction", payload)
///     writer.memberArray("ids") { $0.value("1"); $0.value("2") }
/// }
/// ```
///
/// The closures keep brackets in balance. Where they cannot be used, because parts arrive one by one, the `begin` and
/// `end` methods do the same.
package struct JSONWriter: Sendable {
    /// What has been written so far; a document once the outermost value is complete.
    package private(set) var bytes: [UInt8] = []
    /// Whether a value precedes at this level, so that the next one needs a comma.
    private var needsComma = false
    /// Whether a member's name has just been written and its value must follow.
    private var followsName = false
    /// Spaces per level, or nil for the compact form.
    private let indentation: Int?
    private var level = 0

    /// An empty compact document.
    ///
    /// - Parameter capacity: Bytes to make room for, if the length is roughly known.
    package init(capacity: Int = 256) {
        self.init(indentation: nil)
        bytes.reserveCapacity(capacity)
    }

    init(indentation: Int?) { self.indentation = indentation }

    /// The bytes written so far; the writer goes on behind them.
    ///
    /// For sending a long document in pieces.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll() }
        return bytes
    }

    // MARK: Values

    /// Writes a value: the document itself, the next element of an array, or the value of the member just named.
    package mutating func value(_ value: some JSONWritable) { value.write(to: &self) }

    package mutating func null() { raw("null".utf8) }

    /// Splices in JSON that is known to be one valid value, such as ``JSONSlice/rawBytes``.
    package mutating func raw(_ json: some Sequence<UInt8>) { scalar { $0.append(contentsOf: json) } }

    mutating func scalar(_ append: (inout [UInt8]) -> Void) {
        beginValue()
        append(&bytes)
        needsComma = true
    }

    // MARK: Members

    /// Writes the name of the next member, whose value must follow.
    package mutating func name(_ name: String) {
        beginValue()
        JSONText.append(name, to: &bytes)
        bytes.append(ASCII.colon)
        if indentation != nil { bytes.append(ASCII.space) }
        followsName = true
    }

    /// Writes a name that came from outside.
    package mutating func name(_ name: UntrustedText) { self.name(name.written) }

    /// Splices in a member whose name came from outside; see ``raw(_:)``.
    package mutating func memberRaw(_ name: UntrustedText, _ json: some Sequence<UInt8>) {
        memberRaw(name.written, json)
    }

    package mutating func member(_ name: String, _ value: some JSONWritable) {
        self.name(name)
        self.value(value)
    }

    /// Writes the member unless its value is nil.
    package mutating func memberIfPresent(_ name: String, _ value: (some JSONWritable)?) {
        if let value { member(name, value) }
    }

    /// Writes the member, as null if its value is nil.
    package mutating func memberOrNull(_ name: String, _ value: (some JSONWritable)?) {
        if let value { member(name, value) } else { memberNull(name) }
    }

    package mutating func memberNull(_ name: String) {
        self.name(name)
        null()
    }

    /// Writes a member whose value is JSON that is known to be valid.
    package mutating func memberRaw(_ name: String, _ json: some Sequence<UInt8>) {
        self.name(name)
        raw(json)
    }

    package mutating func memberObject<Failure: Error>(
        _ name: String, _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try object(members)
    }

    package mutating func memberArray<Failure: Error>(
        _ name: String, _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try array(elements)
    }

    // MARK: Arrays and objects

    /// Writes an object whose members the closure writes.
    package mutating func object<Failure: Error>(
        _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        try members(&self)
        endObject()
    }

    /// Writes an array whose elements the closure writes.
    package mutating func array<Failure: Error>(
        _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginArray()
        try elements(&self)
        endArray()
    }

    package mutating func beginObject() { begin(ASCII.openBrace) }

    package mutating func endObject() { end(ASCII.closeBrace) }

    package mutating func beginArray() { begin(ASCII.openBracket) }

    package mutating func endArray() { end(ASCII.closeBracket) }

    private mutating func begin(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
        level += 1
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        level -= 1
        if needsComma { breakLine() }
        bytes.append(bracket)
        needsComma = true
    }

    /// Writes what stands between the previous value and the next.
    private mutating func beginValue() {
        guard !followsName else {
            followsName = false
            return
        }
        if needsComma { bytes.append(ASCII.comma) }
        if level > 0 { breakLine() }
        needsComma = false
    }

    private mutating func breakLine() {
        guard let indentation else { return }
        bytes.append(ASCII.lineFeed)
        bytes.append(contentsOf: repeatElement(ASCII.space, count: indentation * level))
    }
}

/// What a ``JSONWriter`` can write as one value.
package protocol JSONWritable {
    /// Writes exactly one value.
    func write(to writer: inout JSONWriter)
}

extension String: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.scalar { JSONText.append(self, to: &$0) } }
}

extension Bool: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw((self ? "true" : "false").utf8) }
}

extension Int: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Int32: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Int64: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Double: JSONWritable {
    /// Writes null for an infinity or NaN, for which JSON has no number.
    package func write(to writer: inout JSONWriter) {
        if let number = JSONNumber(self) { writer.value(number) } else { writer.null() }
    }
}

extension JSONNumber: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(text.utf8) }
}

extension JSONSlice: JSONWritable {
    /// Copies the value as it is written.
    package func write(to writer: inout JSONWriter) { writer.raw(rawBytes) }
}

extension JSONMembers: JSONWritable {
    /// Copies the object as it is written.
    package func write(to writer: inout JSONWriter) { writer.raw(rawBytes) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.array { writer in
            for element in self { writer.value(element) }
        }
    }
}

extension UntrustedText: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.value(written) }
}
