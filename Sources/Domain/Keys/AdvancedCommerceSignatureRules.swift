/// The rules for what an app passes to StoreKit, signed, to sell through the Advanced Commerce API.
///
/// The object is signed byte for byte: nothing is added, left out or put in order. Lengths and counts are those that Apple's
/// libraries check.
/// Source: https://developer.apple.com/documentation/advancedcommerceapi
enum AdvancedCommerceSignatureRules {
    /// What is asked for: Apple's constant of each kind of request.
    enum Operation: String, Sendable, CaseIterable {
        case createOneTimeCharge = "CREATE_ONE_TIME_CHARGE"
        case createSubscription = "CREATE_SUBSCRIPTION"
        case modifySubscription = "MODIFY_SUBSCRIPTION"
        case reactivateSubscription = "REACTIVATE_SUBSCRIPTION"
    }

    /// How often a subscription renews.
    private enum Period: String, CaseIterable {
        case week = "P1W"
        case month = "P1M"
        case twoMonths = "P2M"
        case threeMonths = "P3M"
        case sixMonths = "P6M"
        case year = "P1Y"
    }

    /// How long a period of an offer is.
    private enum OfferPeriod: String, CaseIterable {
        case threeDays = "P3D"
        case week = "P1W"
        case twoWeeks = "P2W"
        case month = "P1M"
        case twoMonths = "P2M"
        case threeMonths = "P3M"
        case sixMonths = "P6M"
        case nineMonths = "P9M"
        case year = "P1Y"
    }

    /// Whom an offer is for.
    private enum OfferReason: String, CaseIterable {
        case acquisition = "ACQUISITION"
        case winBack = "WIN_BACK"
        case retention = "RETENTION"
    }

    /// When a change begins.
    private enum Effective: String, CaseIterable {
        case immediately = "IMMEDIATELY"
        case nextBillCycle = "NEXT_BILL_CYCLE"
    }

    /// Why an item changes.
    private enum ChangeReason: String, CaseIterable {
        case upgrade = "UPGRADE"
        case downgrade = "DOWNGRADE"
        case applyOffer = "APPLY_OFFER"
    }

    // In characters (Unicode code points).
    private static let maximumDescriptionLength = 45
    private static let maximumDisplayNameLength = 30
    private static let maximumSKULength = 128
    /// How many periods an offer may last.
    private static let periodCounts: ClosedRange<Int32> = 1...12

    /// Reads a request; what is asked for, or nil when that alone cannot be told.
    ///
    /// Apple's libraries write fields that are not set as null.
    static func read(_ fields: inout FieldReader) -> Operation? {
        fields.ignoreNulls()
        let operation = fields.choice("operation", Operation.self)
        _ = fields.string("version", expected: "`1`", rule: "enum") { $0 == "1" }
        fields.object("requestInfo", expected: "an object", requestInfo)
        _ = fields.string(
            "storefront", isRequired: false, expected: "an ISO 3166-1 alpha-3 country code, such as `USA`",
            where: StorefrontCountry.isCode)
        switch operation {
        case .createOneTimeCharge:
            price(&fields, isRequired: true)
            fields.object("item", expected: "an object") { item(&$0) }
        case .createSubscription:
            price(&fields, isRequired: true)
            fields.object("descriptors", expected: "an object") { names(&$0, areRequired: true) }
            fields.objects("items") { offeredItem(&$0) }
            _ = fields.choice("period", Period.self)
            _ = fields.identifier("previousTransactionId", .transaction, in: .body, isRequired: false)
        case .modifySubscription: modification(&fields)
        case .reactivateSubscription:
            _ = fields.identifier("transactionId", .transaction, in: .body)
            fields.objects("items", isRequired: false) { sku("SKU", &$0) }
        // What else it may hold follows from what is asked for.
        case nil: fields.ignoreUnknown()
        }
        return operation
    }

    private static func modification(_ fields: inout FieldReader) {
        _ = fields.identifier("transactionId", .transaction, in: .body)
        _ = fields.boolean("retainBillingCycle")
        price(&fields, isRequired: false)
        fields.object("descriptors", isRequired: false, expected: "an object") { descriptors in
            names(&descriptors, areRequired: false)
            _ = descriptors.choice("effective", Effective.self)
        }
        fields.object("periodChange", isRequired: false, expected: "an object") { change in
            _ = change.choice("effective", Effective.self)
            _ = change.choice("period", Period.self)
        }
        fields.objects("addItems", isRequired: false) { added in
            offeredItem(&added)
            amount("proratedPrice", &added, isRequired: false)
        }
        fields.objects("changeItems", isRequired: false) { changed in
            sku("currentSKU", &changed)
            offeredItem(&changed)
            amount("proratedPrice", &changed, isRequired: false)
            _ = changed.choice("effective", Effective.self)
            _ = changed.choice("reason", ChangeReason.self)
        }
        fields.objects("removeItems", isRequired: false) { sku("SKU", &$0) }
    }

    // MARK: Parts

    private static func requestInfo(_ fields: inout FieldReader) {
        _ = fields.string("requestReferenceId", expected: "a UUID", where: ConsumptionRules.isUUID)
        _ = fields.string("appAccountToken", isRequired: false, expected: "a UUID", where: ConsumptionRules.isUUID)
        _ = fields.text("consistencyToken")
    }

    /// In what a price is meant, and how it is taxed.
    private static func price(_ fields: inout FieldReader, isRequired: Bool) {
        _ = fields.string(
            "currency", isRequired: isRequired, expected: "an ISO 4217 currency code, such as `USD`"
        ) { $0.utf8.count == 3 && $0.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) }
        _ = fields.string("taxCode", isRequired: isRequired, expected: "a tax code of Apple's") { !$0.isEmpty }
    }

    private static func item(_ fields: inout FieldReader) {
        names(&fields, areRequired: true)
        sku("SKU", &fields)
        amount("price", &fields)
    }

    /// An item of a subscription, with an offer if it has one.
    private static func offeredItem(_ fields: inout FieldReader) {
        item(&fields)
        fields.object("offer", isRequired: false, expected: "an object") { offer in
            _ = offer.choice("period", OfferPeriod.self)
            _ = offer.integer("periodCount", from: periodCounts)
            amount("price", &offer)
            _ = offer.choice("reason", OfferReason.self)
        }
    }

    private static func names(_ fields: inout FieldReader, areRequired: Bool) {
        text("description", &fields, isRequired: areRequired, atMost: maximumDescriptionLength)
        text("displayName", &fields, isRequired: areRequired, atMost: maximumDisplayNameLength)
    }

    private static func sku(_ name: String, _ fields: inout FieldReader) {
        text(name, &fields, isRequired: true, atMost: maximumSKULength)
    }

    private static func text(_ name: String, _ fields: inout FieldReader, isRequired: Bool, atMost maximum: Int) {
        _ = fields.string(
            name, isRequired: isRequired, expected: "a text of 1 to \(maximum) characters", rule: "length"
        ) { (1...maximum).contains($0.unicodeScalars.count) }
    }

    /// In milliunits of the currency.
    private static func amount(_ name: String, _ fields: inout FieldReader, isRequired: Bool = true) {
        _ = fields.integer(
            name, from: 0...Int64.max, isRequired: isRequired,
            expected: "an integer from 0 on, in milliunits of the currency")
    }
}
