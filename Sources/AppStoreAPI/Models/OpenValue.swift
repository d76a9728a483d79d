package import JSON

/// A value from a list that Apple extends at any time: one that is not known here is kept as it came.
package protocol OpenValue: RawRepresentable, Sendable, Hashable, JSONWritable where RawValue: JSONWritable & Hashable {
    init(rawValue: RawValue)
}

extension OpenValue {
    package func write(to writer: inout JSONWriter) { writer.value(rawValue) }
}
