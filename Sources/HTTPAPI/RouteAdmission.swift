import Domain

extension Route {
    /// Checks that a caller may use the route, before anything else of the request is examined.
    ///
    /// A caller that cannot list every app gets the same error for an app that does not exist as for an app that it has no scope
    /// for. Otherwise the error would reveal which apps exist.
    ///
    /// - Parameters:
    ///   - caller: nil on a listener that does not authenticate.
    ///   - parameters: those of the path, percent-encoded.
    ///   - lacksApp: whether the message of a call names no app. Then the scope for any app is enough to receive the violations.
    /// - Throws: `missingScope`; `appNotFound`, and `invalidRequest` for a name that cannot be decoded.
    func admit(
        _ caller: Caller?, _ parameters: [(name: String, value: Substring)], lacksApp: Bool
    ) throws(ServiceError) {
        if case .scopeAnywhere(let scope) = access { try caller?.requireAnywhere(scope) }
        guard let apps, let encoded = parameters.first(where: { $0.name == "app" })?.value else { return }
        if lacksApp {
            guard let caller, let scope = scopes.first, !scopes.contains(where: caller.holdsAnywhere) else { return }
            return try caller.requireAnywhere(scope)
        }
        var name = ""
        do throws(ServiceError) {
            name = try PercentDecoding.decode(encoded, of: "app", "The path parameter `app`")
            _ = try apps.app(name)
        } catch {
            guard let caller, !caller.seesAll(apps.all) else { throw error }
            guard !scopes.contains(where: { caller.holds($0, for: name) }) else { throw error }
            throw caller.missing(scopes, for: name, cause: "no app has this name")
        }
        guard let caller else { return }
        switch access {
        case .open, .authenticated, .scopeAnywhere: break
        case .scope(let scope): try caller.require(scope, for: name)
        case .anyScope(let scopes): try caller.require(anyOf: scopes, for: name)
        }
    }
}
