/// A parameter of a query, not encoded.
package struct QueryParameter: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The parameter as it stands in a URL.
    package var encoded: String { "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))" }
}
