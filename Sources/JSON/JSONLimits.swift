/// Limits of the scanner.
package enum JSONLimits {
    /// Nesting that a document may have unless its reader says otherwise.
    package static let defaultDepth = 64
    /// Nesting beyond which no reader may go: the scanner recurses, so this is what keeps a hostile document off the
    /// end of the stack.
    package static let highestDepth = 512
}
