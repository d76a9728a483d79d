/// How the customer came to have the purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
package struct InAppOwnershipType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchased = InAppOwnershipType(rawValue: "PURCHASED")
    /// Through Family Sharing; somebody else in the family bought it.
    package static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")

    package static let known = [purchased, familyShared]
}
