package import JSON

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
