package import JSON

extension TransactionPayload {
    /// Reads a payload in one pass; members that are not known, or of another type than Apple's, are passed over.
    ///
    /// - Parameter payload: the decoded payload of the JWS.
    /// - Throws: ``JSONError`` if it is not one JSON object.
    package init(scanning payload: [UInt8]) throws(JSONError) {
        self.init(try JSONScanner.members(of: payload))
    }

    /// Takes the fields from members that have been scanned already.
    package init(_ members: JSONMembers) {
        self.init()
        transactionId = members["transactionId"]?.string
        originalTransactionId = members["originalTransactionId"]?.string
        webOrderLineItemId = members["webOrderLineItemId"]?.string
        bundleId = members["bundleId"]?.string
        productId = members["productId"]?.string
        subscriptionGroupIdentifier = members["subscriptionGroupIdentifier"]?.string
        purchaseDate = Self.integer(members["purchaseDate"])
        originalPurchaseDate = Self.integer(members["originalPurchaseDate"])
        expiresDate = Self.integer(members["expiresDate"])
        quantity = Self.integer(members["quantity"])
        type = members["type"]?.string.map(ProductType.init(rawValue:))
        appAccountToken = members["appAccountToken"]?.string
        inAppOwnershipType = members["inAppOwnershipType"]?.string.map(InAppOwnershipType.init(rawValue:))
        signedDate = Self.integer(members["signedDate"])
        revocationReason = Self.integer(members["revocationReason"]).map(RevocationReason.init(rawValue:))
        revocationDate = Self.integer(members["revocationDate"])
        revocationType = members["revocationType"]?.string.map(RevocationType.init(rawValue:))
        revocationPercentage = Self.integer(members["revocationPercentage"])
        isUpgraded = members["isUpgraded"]?.bool
        offerType = Self.integer(members["offerType"]).map(OfferType.init(rawValue:))
        offerIdentifier = members["offerIdentifier"]?.string
        offerDiscountType = members["offerDiscountType"]?.string.map(OfferDiscountType.init(rawValue:))
        offerPeriod = members["offerPeriod"]?.string
        environment = members["environment"]?.string.map(Environment.init(rawValue:))
        storefront = members["storefront"]?.string
        storefrontId = members["storefrontId"]?.string
        transactionReason = members["transactionReason"]?.string.map(TransactionReason.init(rawValue:))
        currency = members["currency"]?.string
        price = Self.integer(members["price"])
        appTransactionId = members["appTransactionId"]?.string
        billingPlanType = members["billingPlanType"]?.string.map(BillingPlanType.init(rawValue:))
        advancedCommerceInfo = members["advancedCommerceInfo"]?.value
        commitmentInfo = members["commitmentInfo"]?.value
    }

    /// Reads an integer; data signed by Xcode has dates with fractions of a millisecond, which are rounded.
    private static func integer<Integer: FixedWidthInteger>(_ value: JSONSlice?) -> Integer? {
        guard let value else { return nil }
        return value.int64.flatMap(Integer.init(exactly:)) ?? value.double.flatMap { Integer(exactly: $0.rounded()) }
    }
}

extension TransactionPayload {
    /// The payload as JSON; equal payloads give the same bytes.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.memberIfPresent("transactionId", transactionId)
            writer.memberIfPresent("originalTransactionId", originalTransactionId)
            writer.memberIfPresent("webOrderLineItemId", webOrderLineItemId)
            writer.memberIfPresent("bundleId", bundleId)
            writer.memberIfPresent("productId", productId)
            writer.memberIfPresent("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
            writer.memberIfPresent("purchaseDate", purchaseDate)
            writer.memberIfPresent("originalPurchaseDate", originalPurchaseDate)
            writer.memberIfPresent("expiresDate", expiresDate)
            writer.memberIfPresent("quantity", quantity)
            writer.memberIfPresent("type", type)
            writer.memberIfPresent("appAccountToken", appAccountToken)
            writer.memberIfPresent("inAppOwnershipType", inAppOwnershipType)
            writer.memberIfPresent("signedDate", signedDate)
            writer.memberIfPresent("revocationReason", revocationReason)
            writer.memberIfPresent("revocationDate", revocationDate)
            writer.memberIfPresent("revocationType", revocationType)
            writer.memberIfPresent("revocationPercentage", revocationPercentage)
            writer.memberIfPresent("isUpgraded", isUpgraded)
            writer.memberIfPresent("offerType", offerType)
            writer.memberIfPresent("offerIdentifier", offerIdentifier)
            writer.memberIfPresent("offerDiscountType", offerDiscountType)
            writer.memberIfPresent("offerPeriod", offerPeriod)
            writer.memberIfPresent("environment", environment)
            writer.memberIfPresent("storefront", storefront)
            writer.memberIfPresent("storefrontId", storefrontId)
            writer.memberIfPresent("transactionReason", transactionReason)
            writer.memberIfPresent("currency", currency)
            writer.memberIfPresent("price", price)
            writer.memberIfPresent("appTransactionId", appTransactionId)
            writer.memberIfPresent("billingPlanType", billingPlanType)
            writer.memberIfPresent("advancedCommerceInfo", advancedCommerceInfo)
            writer.memberIfPresent("commitmentInfo", commitmentInfo)
        }
        return writer.bytes
    }
}
