/// Apple's transaction identifiers: text that we pass on unchanged, within the bounds that make it safe in a path.
package enum TransactionID {
    /// The longest identifier, in characters.
    package static let maximumLength = 64

    /// Checks an identifier's form; only Apple knows whether it exists.
    ///
    /// - Throws: `invalidRequest` naming the field.
    package static func check(_ text: String, field: String = "transactionId") throws(ServiceError) {
        let isSafe = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
        guard isSafe, (1...maximumLength).contains(text.utf8.count) else {
            throw .invalid([
                Violation(
                    field: field, rule: "format",
                    message: "A transaction identifier has 1 to \(maximumLength) letters, digits, `-` or `_`.",
                    appleError: AppleErrorName("InvalidTransactionIdError", 4_000_006))
            ])
        }
    }
}
