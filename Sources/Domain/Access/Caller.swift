/// An internal service that uses Purser.
package struct Caller: Sendable, Hashable {
    package let name: String
    /// What it may do, by app slug.
    package let scopes: [String: Set<Scope>]

    package init(name: String, scopes: [String: Set<Scope>]) {
        self.name = name
        self.scopes = scopes
    }

    /// Checks that the caller holds a scope for an app.
    ///
    /// - Throws: `missingScope`, naming the scope.
    package func require(_ scope: Scope, for app: String) throws(ServiceError) {
        guard scopes[app]?.contains(scope) == true else {
            throw ServiceError(
                .missingScope,
                "Caller `\(name)` lacks the scope `\(scope.rawValue)` for app `\(app)`; add it in the configuration.")
        }
    }
}
