/// How the review of a message stands.
///
/// Apple's libraries disagree on the name of the first state, so that either may come.
/// Source: https://developer.apple.com/documentation/retentionmessaging/messagestate
package struct MessageState: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let pending = MessageState(rawValue: "PENDING")
    /// Another name of `PENDING`.
    package static let pendingReview = MessageState(rawValue: "PENDING_REVIEW")
    package static let approved = MessageState(rawValue: "APPROVED")
    package static let rejected = MessageState(rawValue: "REJECTED")

    package static let known = [pending, pendingReview, approved, rejected]
}
