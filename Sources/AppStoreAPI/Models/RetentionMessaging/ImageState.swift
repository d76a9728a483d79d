/// How the review of an image stands.
///
/// Apple's libraries disagree on the name of the first state, so that either may come.
/// Source: https://developer.apple.com/documentation/retentionmessaging/imagestate
package struct ImageState: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let pending = ImageState(rawValue: "PENDING")
    /// Another name of `PENDING`.
    package static let pendingReview = ImageState(rawValue: "PENDING_REVIEW")
    package static let approved = ImageState(rawValue: "APPROVED")
    package static let rejected = ImageState(rawValue: "REJECTED")

    package static let known = [pending, pendingReview, approved, rejected]
}
