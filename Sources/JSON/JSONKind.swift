/// The six kinds of JSON value.
///
/// Source: RFC 8259, section 3.
package enum JSONKind: Sendable, Equatable {
    case null
    case bool
    case number
    case string
    case array
    case object
}
