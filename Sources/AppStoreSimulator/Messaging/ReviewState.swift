/// How Apple's review of an image or a message stands.
package enum ReviewState: String, Sendable, Hashable, CaseIterable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
}
