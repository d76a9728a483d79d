/// The tokens by which Apple's lists go on: Apple's own text, passed on unchanged.
package enum PagePosition {
    /// Checks the `revision` of transaction and refund lists.
    ///
    /// - Throws: `invalidRequest`.
    package static func checkRevision(_ text: String) throws(ServiceError) {
        try check(text, field: "revision", AppleErrorName("InvalidRequestRevisionError", 4_000_005))
    }

    /// Checks the `paginationToken` of the notification history.
    ///
    /// - Throws: `invalidRequest`.
    package static func checkPaginationToken(_ text: String) throws(ServiceError) {
        try check(text, field: "paginationToken", AppleErrorName("InvalidPaginationTokenError", 4_000_014))
    }

    private static func check(_ text: String, field: String, _ error: AppleErrorName) throws(ServiceError) {
        guard !text.isEmpty else {
            throw .invalid([
                Violation(
                    field: field, rule: "length",
                    message: "`\(field)` must not be empty; leave it out to begin at the first page.",
                    appleError: error)
            ])
        }
    }
}
