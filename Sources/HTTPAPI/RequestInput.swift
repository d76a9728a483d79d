import Domain
import Foundation
import HTTPTypes
import JSON

/// What a handler gets to see of a request: decoded, bounded and authenticated.
package struct RequestInput: Sendable {
    package let requestID: String
    let headers: HTTPFields
    let preferences: PreferHeader
    /// Path parameters in the order of the path, percent-decoded.
    let parameters: [(name: String, value: String)]
    /// Query parameters in the order given, percent-decoded.
    let query: [(name: String, value: String)]
    /// The whole body; empty when there is none.
    let body: [UInt8]
    /// Who asks; nil on listeners that do not authenticate.
    let caller: Caller?
    /// No wait lasts beyond this.
    let deadline: ContinuousClock.Instant
    /// What the request may let go while it waits for something that may take a minute; nil where nothing is bounded.
    let slot: RequestSlot?

    /// A path parameter of the route.
    ///
    /// - Throws: `internalError` when the route has no such parameter.
    func parameter(_ name: String) throws(ServiceError) -> String {
        guard let value = parameters.first(where: { $0.name == name })?.value else {
            throw ServiceError(.internalError, "Internal error.", cause: "route without parameter \(name)")
        }
        return value
    }

    /// The only value of a query parameter.
    ///
    /// - Throws: `invalidRequest` when it is given more than once.
    func single(_ name: String) throws(ServiceError) -> String? {
        guard !query.isEmpty else { return nil }
        let values = query.filter { $0.name == name }.map(\.value)
        guard values.count <= 1 else {
            throw .invalid([
                Violation(
                    field: name, rule: "repeated",
                    message: "`\(name)` may be given once; it is given \(values.count) times.")
            ])
        }
        return values.first
    }

    /// A query parameter that is `true` or `false`; absent means false.
    ///
    /// - Throws: `invalidRequest`.
    func flag(_ name: String) throws(ServiceError) -> Bool {
        guard let text = try single(name) else { return false }
        guard let value = Bool(text) else {
            throw .invalid([Violation(field: name, rule: "type", message: "`\(name)` must be `true` or `false`.")])
        }
        return value
    }

    /// The query parameter `environment`, as the app admits it.
    ///
    /// - Throws: `invalidRequest`, `environmentNotAllowed`.
    func environment(for app: App) throws(ServiceError) -> AppStoreEnvironment? {
        try Self.environment(try single("environment"), for: app)
    }

    /// Reads the name of an environment.
    ///
    /// - Throws: `invalidRequest`, `environmentNotAllowed`.
    static func environment(_ text: String?, for app: App) throws(ServiceError) -> AppStoreEnvironment? {
        guard let text else { return nil }
        guard let environment = AppStoreEnvironment(rawValue: text) else {
            throw .invalid([
                Violation(
                    field: "environment", rule: "enum", message: "`environment` must be `Production` or `Sandbox`.")
            ])
        }
        guard app.environments.contains(environment) else {
            throw ServiceError(
                .environmentNotAllowed,
                "App `\(app.slug)` is not configured for \(text); its `environments` list says where it may be used.")
        }
        return environment
    }

    /// Refuses query parameters that the route does not know.
    ///
    /// - Throws: `invalidRequest` naming each.
    func refuseUnknownQuery(besides known: Set<String>) throws(ServiceError) {
        guard !query.isEmpty else { return }
        let unknown = Set(query.map(\.name)).subtracting(known).sorted()
        guard unknown.isEmpty else {
            throw .invalid(
                unknown.map {
                    Violation(
                        field: $0, rule: "unknownParameter",
                        message:
                            "`\($0)` is not a parameter of this route\(known.isEmpty ? "" : "; it knows " + known.sorted().joined(separator: ", "))."
                    )
                })
        }
    }

    /// How long the request may still wait for something.
    var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

    /// The body as a JSON object.
    ///
    /// - Throws: `malformedJSON` with the place of the fault.
    func jsonObject() throws(ServiceError) -> JSONMembers {
        do {
            return try JSONScanner.members(of: body)
        } catch {
            throw ServiceError(.malformedJSON, "The body must be one JSON object: \(error).")
        }
    }
}
