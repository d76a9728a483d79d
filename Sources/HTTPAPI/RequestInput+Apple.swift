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
