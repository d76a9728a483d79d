// What may be signed for a caller, read from the body of its request.

extension StoreKitRequest {
    /// Reads the request to redeem a promotional offer; nil when a rule is broken.
    package static func promotionalOffer(_ fields: inout FieldReader) -> StoreKitRequest? {
        let product = fields.identifier("productId", .product, in: .body)
        let offer = fields.identifier("offerIdentifier", .offer, in: .body)
        let transaction = fields.identifier("transactionId", .transaction, in: .body, isRequired: false)
        guard let product, let offer else { return nil }
        return .promotionalOffer(productID: product, offerIdentifier: offer, transactionID: transaction)
    }

    /// Reads the decision about an introductory offer; nil when a rule is broken.
    package static func introductoryOffer(_ fields: inout FieldReader) -> StoreKitRequest? {
        let product = fields.identifier("productId", .product, in: .body)
        let isAllowed = fields.boolean("allowIntroductoryOffer")
        let transaction = fields.identifier("transactionId", .transaction, in: .body)
        guard let product, let isAllowed, let transaction else { return nil }
        return .introductoryOffer(productID: product, isAllowed: isAllowed, transactionID: transaction)
    }

    /// Reads a request of the Advanced Commerce API.
    ///
    /// - Parameters:
    ///   - fields: reads the body.
    ///   - body: the same body, which is signed as it came.
    /// - Returns: the request; nil when a rule is broken.
    package static func advancedCommerce(_ fields: inout FieldReader, body: [UInt8]) -> StoreKitRequest? {
        AdvancedCommerceSignatureRules.read(&fields) == nil ? nil : .advancedCommerce(body)
    }
}

extension OriginalPromotionalOffer {
    /// The longest name of a customer, in bytes.
    static let maximumUsernameLength = 255

    /// Reads an offer; nil when a rule is broken.
    ///
    /// What is signed are texts with a separator between them: none of these can hold it.
    package init?(_ fields: inout FieldReader) {
        let product = fields.identifier("productId", .product, in: .body)
        let offer = fields.identifier("offerIdentifier", .offer, in: .body)
        let isNamedTwice = fields.holds("appAccountToken") && fields.holds("applicationUsername")
        let token = fields.string(
            "appAccountToken", isRequired: false, expected: "a UUID", where: ConsumptionRules.isUUID)
        let username = fields.string(
            "applicationUsername", isRequired: false,
            expected: "1 to \(Self.maximumUsernameLength) visible ASCII characters"
        ) { name in
            (1...Self.maximumUsernameLength).contains(name.utf8.count)
                && name.utf8.allSatisfy((UInt8(ascii: "!")...UInt8(ascii: "~")).contains)
        }
        if isNamedTwice {
            fields.note(
                "applicationUsername", "conflict",
                "`applicationUsername` and `appAccountToken` fill the same place; give the one that the app gives to StoreKit."
            )
        }
        guard let product, let offer else { return nil }
        self.init(productID: product, offerIdentifier: offer, applicationUsername: token ?? username ?? "")
    }
}
