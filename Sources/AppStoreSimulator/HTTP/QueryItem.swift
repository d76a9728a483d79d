/// A parameter of a query, decoded.
struct QueryItem: Sendable, Hashable {
    let name: String
    let value: String

    /// Reads a query; a plus sign stands for a blank, as in forms.
    static func parse(_ query: Substring) -> [QueryItem] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(
                name: PercentDecoding.decode(parts[0], plusIsBlank: true),
                value: parts.count > 1 ? PercentDecoding.decode(parts[1], plusIsBlank: true) : "")
        }
    }
}
