/// What one renewal date is extended by, and why; already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest
package struct RenewalExtension: Sendable, Equatable {
    /// 1 to 90.
    package let days: Int32
    /// Apple's `extendReasonCode`, 0 to 3.
    package let reasonCode: Int32
    /// The caller's own identifier, by which Apple recognises a repetition; at most 128 characters.
    package let requestIdentifier: String

    package init(days: Int32, reasonCode: Int32, requestIdentifier: String) {
        self.days = days
        self.reasonCode = reasonCode
        self.requestIdentifier = requestIdentifier
    }
}

/// What became of the extension of one renewal date.
package struct RenewalExtensionOutcome: Sendable, Equatable {
    package let originalTransactionID: String?
    package let webOrderLineItemID: String?
    package let success: Bool
    /// The new renewal date, in UNIX milliseconds.
    package let effectiveDate: Int64?
    package let environment: AppStoreEnvironment

    package init(
        originalTransactionID: String?, webOrderLineItemID: String?, success: Bool, effectiveDate: Int64?,
        environment: AppStoreEnvironment
    ) {
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.success = success
        self.effectiveDate = effectiveDate
        self.environment = environment
    }
}

/// What all renewal dates of a product are extended by, and where; already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest
package struct MassRenewalExtension: Sendable, Equatable {
    /// Days, reason and identifier; the identifier is a UUID here.
    package let `extension`: RenewalExtension
    package let productID: String
    /// ISO 3166-1 alpha-3; nil for every storefront, never empty.
    package let storefrontCountryCodes: [String]?

    package init(extension: RenewalExtension, productID: String, storefrontCountryCodes: [String]?) {
        self.extension = `extension`
        self.productID = productID
        self.storefrontCountryCodes = storefrontCountryCodes
    }
}

/// How far a mass extension has got.
package struct MassRenewalExtensionStatus: Sendable, Equatable {
    package let requestIdentifier: String?
    package let isComplete: Bool
    /// In UNIX milliseconds.
    package let completeDate: Int64?
    package let succeededCount: Int64?
    package let failedCount: Int64?

    package init(
        requestIdentifier: String?, isComplete: Bool, completeDate: Int64?, succeededCount: Int64?, failedCount: Int64?
    ) {
        self.requestIdentifier = requestIdentifier
        self.isComplete = isComplete
        self.completeDate = completeDate
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}

// MARK: From a request

extension RenewalExtension {
    /// The days that one extension may add.
    static let dayRange: ClosedRange<Int32> = 1...90
    /// Apple's reason codes: undeclared, customer satisfaction, other, service issue or outage.
    static let reasonCodeRange: ClosedRange<Int32> = 0...3
    /// The longest identifier, in characters.
    static let maximumIdentifierLength = 128

    /// Reads the extension of one subscription from a request body; nil when a rule is broken.
    package init?(_ fields: inout FieldReader) {
        let read = Self.read(
            &fields, identifier: "1 to \(Self.maximumIdentifierLength) characters, the same in every repetition"
        ) { (1...Self.maximumIdentifierLength).contains($0.unicodeScalars.count) }
        guard let read else { return nil }
        self = read
    }

    /// Reads what both kinds of extension have; nil when a rule is broken.
    static func read(
        _ fields: inout FieldReader, identifier: String, where isIdentifier: (String) -> Bool
    ) -> RenewalExtension? {
        let days = fields.integer(
            "extendByDays", from: dayRange, AppleErrorName("InvalidExtendByDaysError", 4_000_009))
        let reason = fields.integer(
            "extendReasonCode", from: reasonCodeRange, AppleErrorName("InvalidExtendReasonCodeError", 4_000_010))
        let identifier = fields.string(
            "requestIdentifier", expected: identifier, Self.identifierError, where: isIdentifier)
        guard let days, let reason, let identifier else { return nil }
        return RenewalExtension(days: days, reasonCode: reason, requestIdentifier: identifier)
    }

    static let identifierError = AppleErrorName("InvalidRequestIdentifierError", 4_000_011)
}

extension MassRenewalExtension {
    /// More than there are storefronts, so that nobody who repeats some is refused.
    static let maximumCountries = 1000

    /// Reads the extension of all subscriptions of a product from a request body; nil when a rule is broken.
    package init?(_ fields: inout FieldReader) {
        let read = RenewalExtension.read(
            &fields, identifier: "a UUID, the same in every repetition", where: ConsumptionRules.isUUID)
        let product = fields.string(
            "productId", expected: "a product id", AppleIdentifier.product.appleError,
            where: AppleIdentifier.product.isValid)
        let countries = fields.strings(
            "storefrontCountryCodes", atMost: Self.maximumCountries, isRequired: false,
            expected: "an array of country codes",
            element: "an ISO 3166-1 alpha-3 country code, such as `USA`",
            AppleErrorName("InvalidStorefrontCountryCodeError", 4_000_028), where: StorefrontCountry.isCode)
        if let countries, countries.isEmpty {
            fields.note(
                "storefrontCountryCodes", "count",
                "`storefrontCountryCodes` must not be empty; leave it out to mean every storefront.",
                AppleErrorName("InvalidEmptyStorefrontCountryCodeListError", 4_000_027))
        }
        guard let read, let product else { return nil }
        self.init(extension: read, productID: product, storefrontCountryCodes: countries)
    }

    /// The path parameter `requestIdentifier`: that of a mass extension.
    package static func identifier(_ fields: inout FieldReader) -> String? {
        fields.string(
            "requestIdentifier", in: .path, expected: "the UUID of a mass extension", RenewalExtension.identifierError,
            where: ConsumptionRules.isUUID)
    }
}

/// The country codes of storefronts.
enum StorefrontCountry {
    /// Whether a text is an ISO 3166-1 alpha-3 code, or Apple's own for Kosovo, which ISO does not list.
    static func isCode(_ text: String) -> Bool { codes.contains(text) }

    /// Source: ISO 3166-1:2020, alpha-3.
    private static let codes: Set<String> = Set(
        """
        ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR
        BHR BHS BIH BLM BLR BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG
        COK COL COM CPV CRI CUB CUW CXR CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH
        FIN FJI FLK FRA FRO FSM GAB GBR GEO GGY GHA GIB GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY
        HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN IRQ ISL ISR ITA JAM JEY JOR JPN KAZ KEN KGZ KHM
        KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA MAC MAF MAR MCO MDA MDG MDV MEX MHL
        MKD MLI MLT MMR MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER NFK NGA NIC NIU NLD NOR
        NPL NRU NZL OMN PAK PAN PCN PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU RUS RWA SAU
        SDN SEN SGP SGS SHN SJM SLB SLE SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA
        TCD TGO THA TJK TKL TKM TLS TON TTO TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB
        VIR VNM VUT WLF WSM YEM ZAF ZMB ZWE
        XKS
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
