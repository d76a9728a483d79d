extension RenewalExtension {
    /// The days that one extension may add.
    static let dayRange: ClosedRange<Int64> = 1...90
    /// Apple's reason codes: undeclared, customer satisfaction, other, service issue or outage.
    static let reasonCodeRange: ClosedRange<Int64> = 0...3
    /// The longest identifier, in characters.
    static let maximumIdentifierLength = 128

    /// Reads the extension of one subscription from a request body.
    ///
    /// - Throws: `invalidRequest` with every violation.
    package init(_ fields: [String: FieldValue]) throws(ServiceError) {
        var reader = FieldReader(fields)
        let read = Self.read(
            &reader, identifier: "1 to \(Self.maximumIdentifierLength) characters, the same in every repetition"
        ) { (1...Self.maximumIdentifierLength).contains($0.unicodeScalars.count) }
        reader.refuseUnknownFields()
        guard reader.violations.isEmpty, let read else { throw .invalid(reader.violations) }
        self = read
    }

    /// Reads what both kinds of extension have; nil when a rule is broken.
    static func read(
        _ reader: inout FieldReader, identifier: String, where isIdentifier: (String) -> Bool
    ) -> RenewalExtension? {
        let days = reader.integer(
            "extendByDays", in: dayRange, isRequired: true, AppleErrorName("InvalidExtendByDaysError", 4_000_009))
        let reason = reader.integer(
            "extendReasonCode", in: reasonCodeRange, isRequired: true,
            AppleErrorName("InvalidExtendReasonCodeError", 4_000_010))
        let identifier = reader.string(
            "requestIdentifier", expected: identifier, Self.identifierError, where: isIdentifier)
        guard let days, let reason, let identifier else { return nil }
        return RenewalExtension(days: days, reasonCode: reason, requestIdentifier: identifier)
    }

    static let identifierError = AppleErrorName("InvalidRequestIdentifierError", 4_000_011)
}

extension MassRenewalExtension {
    /// More than there are storefronts, so that nobody who repeats some is refused.
    static let maximumCountries = 1000

    /// Reads the extension of all subscriptions of a product from a request body.
    ///
    /// - Throws: `invalidRequest` with every violation.
    package init(_ fields: [String: FieldValue]) throws(ServiceError) {
        var reader = FieldReader(fields)
        let read = RenewalExtension.read(
            &reader, identifier: "a UUID, the same in every repetition", where: ConsumptionRules.isUUID)
        let product = reader.string(
            "productId", expected: "a product id", AppleIdentifier.product.appleError,
            where: AppleIdentifier.product.isValid)
        let countries = reader.strings(
            "storefrontCountryCodes", atMost: Self.maximumCountries, isRequired: false,
            expected: "an array of country codes",
            element: "an ISO 3166-1 alpha-3 country code, such as `USA`",
            AppleErrorName("InvalidStorefrontCountryCodeError", 4_000_028), where: StorefrontCountry.isCode)
        if let countries, countries.isEmpty {
            reader.note(
                "storefrontCountryCodes", "count",
                "`storefrontCountryCodes` must not be empty; leave it out to mean every storefront.",
                AppleErrorName("InvalidEmptyStorefrontCountryCodeListError", 4_000_027))
        }
        reader.refuseUnknownFields()
        guard reader.violations.isEmpty, let read, let product else { throw .invalid(reader.violations) }
        self.init(extension: read, productID: product, storefrontCountryCodes: countries)
    }

    /// Checks the identifier of a mass extension.
    ///
    /// - Throws: `invalidRequest` naming the field.
    package static func checkIdentifier(_ text: String, field: String) throws(ServiceError) {
        guard ConsumptionRules.isUUID(text) else {
            throw .invalid([
                Violation(
                    field: field, rule: "format", message: "The `requestIdentifier` of a mass extension is a UUID.",
                    appleError: RenewalExtension.identifierError)
            ])
        }
    }
}
