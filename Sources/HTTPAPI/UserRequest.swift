import Domain

/// What a request about one user gives by path and query.
struct UserRequest: Sendable {
    let user: UserID
    let environment: AppStoreEnvironment?
    let includesSigned: Bool
    /// Whether parts that fail are reported as gaps instead of failing the whole.
    let isPartialAllowed: Bool

    /// Reads path and query; `parameters` are those that the route takes besides.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    init(_ app: App, _ input: RequestInput, besides parameters: Set<String> = []) throws(ServiceError) {
        var checks = RequestChecks()
        let user = checks.run { () throws(ServiceError) in try UserID(try input.parameter("user")) }
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: parameters.union(["environment", "include", "partial"]))
        }
        let environment = checks.run { () throws(ServiceError) in try input.environment(for: app) }
        let includesSigned = checks.run { () throws(ServiceError) in try input.includesSigned() }
        let isPartialAllowed = checks.run { () throws(ServiceError) in try input.flag("partial") }
        guard checks.havePassed, let user, let environment, let includesSigned, let isPartialAllowed else {
            throw checks.error
        }
        self.user = user
        self.environment = environment
        self.includesSigned = includesSigned
        self.isPartialAllowed = isPartialAllowed
    }
}
