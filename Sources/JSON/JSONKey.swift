/// Where a member's name stands in the document, with a digest to compare names by.
struct JSONKey {
    /// The name between its quotes, as written.
    let range: Range<Int>
    /// Position among ``JSONCursor/unescapedKeys``, or nil when the name is written without escapes.
    let unescapedIndex: Int?
    /// Digest of the name with its escapes resolved: equal names have equal digests, not the other way round.
    let digest: UInt64
}
