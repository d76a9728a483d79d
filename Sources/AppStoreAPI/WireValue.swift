package import JSON

/// What can be the value of a ``WireField``: the scalars of JSON, open values, models, and arrays and maps of these.
package protocol WireValue: Sendable, Equatable, JSONWritable {
    /// Reads a value, or gives nil if it is of another type.
    init?(_ slice: JSONSlice)
}

/// Text of Apple's is never rejected, so it is made stream-safe.
extension String: WireValue {
    package init?(_ slice: JSONSlice) {
        guard let string = slice.string else { return nil }
        self = string.streamSafe
    }
}

extension Bool: WireValue {
    package init?(_ slice: JSONSlice) {
        guard let bool = slice.bool else { return nil }
        self = bool
    }
}

extension Int32: WireValue {
    package init?(_ slice: JSONSlice) { self.init(rounding: slice) }
}

extension Int64: WireValue {
    package init?(_ slice: JSONSlice) { self.init(rounding: slice) }
}

extension FixedWidthInteger {
    /// Reads a number in range; data signed by Xcode has dates with fractions of a millisecond, which are rounded.
    fileprivate init?(rounding slice: JSONSlice) {
        let integer =
            slice.int64.flatMap(Self.init(exactly:)) ?? slice.double.flatMap { Self(exactly: $0.rounded()) }
        guard let integer else { return nil }
        self = integer
    }
}

extension Array: WireValue where Element: WireValue {
    /// Elements of another type are left out.
    package init?(_ slice: JSONSlice) {
        guard let elements = slice.array else { return nil }
        self = elements.compactMap(Element.init)
    }
}

/// A map from values of an open list to something, such as counts.
extension Dictionary: WireValue where Key: OpenValue<String>, Value: WireValue {
    /// Members of another type are left out.
    package init?(_ slice: JSONSlice) {
        guard let members = slice.object else { return nil }
        self.init()
        for (name, value) in members { self[Key(rawValue: name.streamSafe)] = Value(value) }
    }
}

extension Dictionary: JSONWritable where Key: OpenValue<String>, Value: WireValue {
    /// Writes an object whose members are in the byte order of their names.
    package func write(to writer: inout JSONWriter) {
        let members = sorted { $0.key.rawValue.utf8.lexicographicallyPrecedes($1.key.rawValue.utf8) }
        writer.object { writer in
            for (key, value) in members { writer.member(key.rawValue, value) }
        }
    }
}

/// A value from a list that Apple extends at any time: one that is not known here is kept as it came.
package protocol OpenValue<RawValue>: RawRepresentable, Hashable, WireValue where RawValue: WireValue & Hashable {
    init(rawValue: RawValue)

    /// The values that Apple documents at present.
    static var known: [Self] { get }
}

extension OpenValue {
    package init?(_ slice: JSONSlice) {
        guard let rawValue = RawValue(slice) else { return nil }
        self.init(rawValue: rawValue)
    }

    package func write(to writer: inout JSONWriter) { writer.value(rawValue) }

    /// Whether Apple documents the value at present.
    package var isKnown: Bool { Self.known.contains(self) }
}
