import Foundation

/// Declares, ends and lists links on behalf of callers.
package struct LinkService: Sendable {
    /// The longest identifier, in bytes of UTF-8.
    static let maximumValueBytes = 128

    let store: any LinkStore
    let audit: any AuditTrail
    let now: WallClock

    package init(store: any LinkStore, audit: any AuditTrail, now: @escaping WallClock) {
        self.store = store
        self.audit = audit
        self.now = now
    }

    /// Records that an identifier belongs to a user.
    ///
    /// `target`: one that `check` allows; who reads it from a request tells what is wrong about it with all that is.
    /// `environment`: the identifier's environment; nil when the caller does not know it.
    /// `transfer`: whether a link of another user is ended in favour of this one.
    ///
    /// - Returns: the link in force, and whether it is new.
    /// - Throws: `linkConflict` naming both users, `storeUnavailable`.
    package func declare(
        app: App, user: UserID, target: LinkTarget, environment: AppStoreEnvironment?, transfer: Bool, caller: String
    ) async throws(ServiceError) -> (link: Link, isNew: Bool) {
        let statement = Link(
            app: app.slug, user: user, target: target, environment: environment ?? Self.onlyEnvironment(of: app),
            source: .declared, validFrom: nil, validUntil: nil, createdAt: now(), createdBy: caller)
        switch try await store.declare(statement, transfer: transfer) {
        case .keep(let link), .replace(_, let link): return (link, false)
        case .insert(let link), .transfer(_, _, let link): return (link, true)
        case .conflict(let other):
            throw ServiceError(
                .linkConflict,
                "`\(target.kind.rawValue)` `\(target.value)` is linked to user `\(other.user)` (\(other.source.rawValue)), not to `\(user)`; repeat with `?transfer=true` to move it.",
                owner: other.user, user: user)
        }
    }

    /// Ends the user's link to an identifier.
    ///
    /// - Throws: `linkNotFound`, `storeUnavailable`.
    package func end(app: App, user: UserID, target: LinkTarget) async throws(ServiceError) -> [Link] {
        let ended = try await store.end(app: app.slug, user: user, target: target, at: now())
        guard !ended.isEmpty else {
            throw ServiceError(
                .linkNotFound, "User `\(user)` has no link in force to `\(target.kind.rawValue)` `\(target.value)`.")
        }
        return ended
    }

    /// Every link of a user, ended ones included, oldest first.
    package func links(app: App, user: UserID) async throws(ServiceError) -> [Link] {
        try await store.links(app: app.slug, user: user)
    }

    /// The environment of an app that has but one.
    static func onlyEnvironment(of app: App) -> AppStoreEnvironment? {
        app.environments.count == 1 ? app.environments.first : nil
    }

    /// Checks the form of an identifier that came in a request.
    ///
    /// - Throws: `invalidRequest` naming the field `value`.
    package static func check(_ target: LinkTarget) throws(ServiceError) {
        let bytes = target.value.utf8
        guard (1...maximumValueBytes).contains(bytes.count) else {
            throw .invalid([
                Violation(
                    field: "value", rule: "length",
                    message: "An identifier has 1 to \(maximumValueBytes) bytes; this one has \(bytes.count).")
            ])
        }
        if target.kind == .appAccountToken {
            guard ConsumptionRules.isUUID(target.value) else {
                throw .invalid([
                    Violation(
                        field: "value", rule: "format", message: "An `appAccountToken` is a UUID.",
                        appleError: AppleErrorName("InvalidAppAccountTokenUUIDError", 4_000_183))
                ])
            }
        } else {
            try AppleIdentifier.transaction.check(target.value, field: "value")
        }
    }
}
