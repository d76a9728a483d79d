import Domain

/// What a request about one transaction gives by path and query.
struct TransactionRequest: Sendable {
    let identifier: String
    let environment: AppStoreEnvironment?
    let includesSigned: Bool

    /// Reads path and query.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    init(
        _ app: App, _ input: RequestInput, _ kind: AppleIdentifier = .transaction, takesInclude: Bool = false,
        besides parameters: Set<String> = []
    ) throws(ServiceError) {
        var checks = RequestChecks()
        let identifier = checks.run { () throws(ServiceError) in try input.identifier("transactionId", kind) }
        checks.require { () throws(ServiceError) in
            let known: Set<String> = takesInclude ? ["environment", "include"] : ["environment"]
            try input.refuseUnknownQuery(besides: known.union(parameters))
        }
        let environment = checks.run { () throws(ServiceError) in try input.environment(for: app) }
        let includesSigned = checks.run { () throws(ServiceError) in
            takesInclude ? try input.includesSigned() : false
        }
        guard checks.havePassed, let identifier, let environment, let includesSigned else { throw checks.error }
        self.identifier = identifier
        self.environment = environment
        self.includesSigned = includesSigned
    }
}
