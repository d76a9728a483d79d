import Domain

// What the routes that end in a call to Apple have in common.

extension RequestInput {
    /// The call to Apple on the caller's behalf.
    func call(
        _ app: App, _ environment: AppStoreEnvironment?, priority: CallPriority = .interactive
    ) -> UpstreamCall {
        UpstreamCall(
            app: app, environment: environment, deadline: deadline, caller: caller?.name ?? "", priority: priority)
    }

    /// The query parameter `environment` of a route that cannot find it out.
    ///
    /// - Throws: `invalidRequest`, `environmentNotAllowed`.
    func requiredEnvironment(for app: App) throws(ServiceError) -> AppStoreEnvironment {
        guard let environment = try environment(for: app) else {
            throw .invalid([
                Violation(
                    field: "environment", rule: "required",
                    message: "`environment` is required here: `Production` or `Sandbox`.")
            ])
        }
        return environment
    }

    /// A path parameter that is an identifier of Apple's.
    ///
    /// - Throws: `invalidRequest`.
    func identifier(_ name: String, _ kind: AppleIdentifier) throws(ServiceError) -> String {
        let text = try parameter(name)
        try kind.check(text, field: name)
        return text
    }

    /// Whether `include=signed` asks for the signed form.
    ///
    /// - Throws: `invalidRequest`.
    func includesSigned() throws(ServiceError) -> Bool {
        guard let include = try single("include") else { return false }
        guard include == "signed" else {
            throw .invalid([Violation(field: "include", rule: "enum", message: "`include` can only be `signed`.")])
        }
        return true
    }

    /// Whether `version=1` asks for Apple's deprecated endpoint.
    ///
    /// - Throws: `invalidRequest`.
    func wantsVersion1() throws(ServiceError) -> Bool {
        switch try single("version") {
        case nil, "2": return false
        case "1": return true
        case .some:
            throw .invalid([Violation(field: "version", rule: "enum", message: "`version` can only be `1` or `2`.")])
        }
    }
}

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
