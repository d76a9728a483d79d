/// A kind of identifier that Apple issues: text that we pass on unchanged, within the bounds that make it safe in a path.
///
/// Only the form is checked; only Apple knows whether it exists.
package struct AppleIdentifier: Sendable {
    /// What it is called at the start of a sentence.
    let noun: String
    /// In characters.
    let maximumLength: Int
    /// What it may hold besides letters and digits; full stops alone are none.
    let punctuation: String
    /// Apple's error for one that is not well-formed, where Apple has one.
    let appleError: AppleErrorName?

    /// A transaction id, original transaction id or app transaction id.
    package static let transaction = AppleIdentifier(
        noun: "A transaction identifier", maximumLength: 64, punctuation: "-_",
        appleError: AppleErrorName("InvalidTransactionIdError", 4_000_006))
    /// An original transaction id, where Apple takes no other.
    package static let originalTransaction = AppleIdentifier(
        noun: "An original transaction identifier", maximumLength: 64, punctuation: "-_",
        appleError: AppleErrorName("InvalidOriginalTransactionIdError", 4_000_008))
    /// The order id on a customer's receipt from Apple.
    package static let order = AppleIdentifier(
        noun: "An order id", maximumLength: 64, punctuation: "-_", appleError: nil)
    /// A product id, as App Store Connect has it.
    package static let product = AppleIdentifier(
        noun: "A product id", maximumLength: 255, punctuation: "-_.",
        appleError: AppleErrorName("InvalidProductIdError", 4_000_023))
    /// The identifier of an offer, as App Store Connect has it.
    package static let offer = AppleIdentifier(
        noun: "An offer identifier", maximumLength: 255, punctuation: "-_.", appleError: nil)
    /// The token that Request a Test Notification returns.
    package static let testNotification = AppleIdentifier(
        noun: "A test notification token", maximumLength: 255, punctuation: "-_",
        appleError: AppleErrorName("InvalidTestNotificationTokenError", 4_000_020))

    /// Whether a text has the form of such an identifier.
    package func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        // A path segment of nothing but full stops would lead elsewhere (RFC 3986 section 5.2.4).
        return (1...maximumLength).contains(bytes.count) && !bytes.allSatisfy { $0 == UInt8(ascii: ".") }
            && bytes.allSatisfy { Self.isAlphanumeric($0) || punctuation.utf8.contains($0) }
    }

    /// Checks the form.
    ///
    /// - Throws: `invalidRequest` naming the field.
    package func check(_ text: String, field: String) throws(ServiceError) {
        guard isValid(text) else {
            throw .invalid([Violation(field: field, rule: "format", message: "\(rule).", appleError: appleError)])
        }
    }

    /// The rule in words.
    var rule: String {
        let marks = punctuation.map { "`\($0)`" }.joined(separator: ", ")
        return "\(noun) is made of 1 to \(maximumLength) letters, digits and \(marks)"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}

/// The token by which an app names its user to Apple: a UUID.
package enum AppAccountToken {
    /// Reads the body of a request to set the token.
    ///
    /// - Returns: the token; nil when it breaks a rule.
    package static func read(_ fields: inout FieldReader) -> String? {
        fields.string(
            "appAccountToken", expected: "a UUID", AppleErrorName("InvalidAppAccountTokenUUIDError", 4_000_183),
            where: ConsumptionRules.isUUID)
    }
}
