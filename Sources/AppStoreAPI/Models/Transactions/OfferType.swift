/// The kind of offer that the purchase used.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/offertype
package struct OfferType: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// The only one without an `offerIdentifier`.
    package static let introductoryOffer = OfferType(rawValue: 1)
    package static let promotionalOffer = OfferType(rawValue: 2)
    package static let offerCode = OfferType(rawValue: 3)
    package static let winBackOffer = OfferType(rawValue: 4)

    package static let known = [introductoryOffer, promotionalOffer, offerCode, winBackOffer]
}
