/// The token by which an app names its user to Apple: a UUID.
package enum AppAccountToken {
    /// Reads the body of a request to set the token.
    ///
    /// - Throws: `invalidRequest` with every violation.
    package static func read(_ fields: [String: FieldValue]) throws(ServiceError) -> String {
        var reader = FieldReader(fields)
        let token = reader.string(
            "appAccountToken", expected: "a UUID", AppleErrorName("InvalidAppAccountTokenUUIDError", 4_000_183),
            where: ConsumptionRules.isUUID)
        reader.refuseUnknownFields()
        guard reader.violations.isEmpty, let token else { throw .invalid(reader.violations) }
        return token
    }
}
