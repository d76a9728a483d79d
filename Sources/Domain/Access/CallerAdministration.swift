package import Foundation
import Logging

/// What operators decide about callers' credentials that lasts.
package struct CallerPolicy: Sendable, Equatable {
    /// How long the tokens before a new one stay usable, unless the operator says otherwise.
    package var rotationGrace = Duration.seconds(24 * 3600)
    /// How long before its end a token is warned of.
    package var expiryWarning = Duration.seconds(7 * 24 * 3600)
    /// After how long without use a caller is told of.
    package var unusedWarning = Duration.seconds(90 * 24 * 3600)

    package init() {}
}

/// Adds, changes and removes callers and what they prove themselves by, while the daemon serves.
///
/// Whatever gives power is recorded before it happens, and does not happen when it cannot be; whatever takes power away happens
/// in any case. The callers of the configuration are read-only here.
package struct CallerAdministration: Sendable {
    /// A caller, with a token that it was just given; this is the only time that anybody sees it.
    package struct Issued: Sendable {
        package let caller: CallerListing
        package let token: (id: String, text: String, expiresAt: Date?)?
    }

    let store: any CallerStore
    let registry: CallerRegistry
    let apps: AppCatalog
    let policy: @Sendable () -> CallerPolicy
    let audit: any AuditTrail
    let makeToken: @Sendable () throws -> OpaqueToken
    let digest: @Sendable ([UInt8]) -> [UInt8]
    let now: WallClock
    let logger: Logger

    /// The callers, those of the configuration first.
    ///
    /// `position`: behind which to begin; nil for the first. `limit`: how many at most; nil for all.
    package func callers(after position: CallerListing.Position? = nil, limit: Int? = nil) -> [CallerListing] {
        registry.listings(apps: apps, after: position, limit: limit)
    }

    /// A caller by name.
    ///
    /// - Throws: `callerNotFound`.
    package func caller(_ name: String) throws(ServiceError) -> CallerListing {
        guard let listing = registry.listing(of: name, apps: apps) else { throw Self.unknown(name) }
        return listing
    }

    // MARK: Acts that give

    /// Adds a caller.
    ///
    /// - Throws: `invalidRequest` with every broken rule, `callerConflict`, `auditUnavailable`, `storeUnavailable`.
    package func add(_ addition: CallerAddition, by actor: Actor) async throws(ServiceError) -> Issued {
        let violations = violations(addition)
        guard violations.isEmpty else { throw .invalid(violations) }
        guard !registry.read({ $0.isTaken(addition.name) }) else { throw Self.taken(addition.name) }
        try registry.requireRoom()
        let time = now()
        let token = addition.givesToken ? try newToken(for: addition.tokenLifetime, at: time) : nil
        let caller = StoredCaller(
            name: addition.name, createdAt: time, grants: addition.scopes.filter { !$0.value.isEmpty },
            tokens: token.map { [$0.record] } ?? [], bindings: addition.bindings)
        try await change(caller.name, recording: .callerAdded(caller, by: actor)) { known throws(ServiceError) in
            guard known == nil else { throw Self.taken(caller.name) }
            return caller
        }
        return issued(caller.name, token)
    }

    /// Allows a caller more of an app.
    ///
    /// - Throws: `callerNotFound`, `callerConflict` for one of the configuration, `auditUnavailable`, `storeUnavailable`.
    package func grant(
        _ scopes: Set<Scope>, for app: String, to name: String, by actor: Actor
    ) async throws(ServiceError) -> CallerListing {
        try requireStored(name)
        let act = AuditAct(
            .callerChanged, by: actor, app: app, caller: name, details: ["granted": Self.text(scopes)])
        try await change(name, recording: act) { caller throws(ServiceError) in
            try Self.edited(caller, name) { $0.grant(scopes, for: app) }
        }
        return try caller(name)
    }

    /// Gives a caller a new token; those that it has end after a time.
    ///
    /// - Throws: `callerNotFound`, `callerConflict`, `auditUnavailable`, `storeUnavailable`.
    package func rotate(
        _ name: String, _ rotation: CallerRotation, by actor: Actor
    ) async throws(ServiceError) -> Issued {
        try requireStored(name)
        let time = now()
        let token = try newToken(for: rotation.lifetime, at: time)
        let end = time.advanced(by: rotation.grace ?? policy().rotationGrace)
        // Told before anything is recorded, where it can be known.
        _ = try registry.read { $0.stored[name] }.map { caller throws(ServiceError) in
            var caller = caller
            try caller.rotate(to: token.record, endingOthersAt: end, at: time)
        }
        let act = AuditAct(
            .callerCredentialIssued, by: actor, caller: name,
            details: ["credential": "token:\(token.record.id)", "othersEndAt": end.formatted(.iso8601)])
        try await change(name, recording: act) { caller throws(ServiceError) in
            guard var caller else { throw Self.unknown(name) }
            try caller.rotate(to: token.record, endingOthersAt: end, at: time)
            return caller
        }
        return issued(name, token)
    }

    /// Lets something of a connection stand for a caller.
    ///
    /// - Throws: `callerNotFound`, `callerConflict` when it stands for another, `auditUnavailable`, `storeUnavailable`.
    package func bind(
        _ binding: CallerBinding, to name: String, by actor: Actor
    ) async throws(ServiceError) -> CallerListing {
        try requireStored(name)
        if let owner = registry.read({ $0.owner(of: binding) }), owner != name {
            throw Self.bound(binding, to: owner)
        }
        let credential = CallerCredential.binding(binding).text
        let act = AuditAct(.callerCredentialIssued, by: actor, caller: name, details: ["credential": credential])
        try await change(name, recording: act) { caller throws(ServiceError) in
            guard var caller else { throw Self.unknown(name) }
            caller.bindings.insert(binding)
            guard caller.bindings.count <= StoredCaller.maximumBindings else {
                throw ServiceError(
                    .callerConflict,
                    "Caller `\(name)` has \(StoredCaller.maximumBindings) certificates, users and groups already; unbind one."
                )
            }
            return caller
        }
        return try caller(name)
    }

    // MARK: Acts that take

    /// Allows a caller less of an app.
    ///
    /// - Throws: `callerNotFound`, `callerConflict` for one of the configuration, `storeUnavailable`.
    package func ungrant(
        _ scopes: Set<Scope>, for app: String, from name: String, by actor: Actor
    ) async throws(ServiceError) -> CallerListing {
        try requireStored(name)
        try await change(name) { caller throws(ServiceError) in
            try Self.edited(caller, name) { $0.ungrant(scopes, for: app) }
        }
        await audit.settle(
            AuditAct(.callerChanged, by: actor, app: app, caller: name, details: ["withdrawn": Self.text(scopes)]))
        return try caller(name)
    }

    /// Revokes a caller's token, at once and for good.
    ///
    /// - Throws: `callerNotFound`, `callerConflict` for one of the configuration, `callerCredentialNotFound`,
    ///   `storeUnavailable`.
    package func revoke(token id: String, of name: String, by actor: Actor) async throws(ServiceError) -> CallerListing
    {
        try requireStored(name)
        let time = now()
        try await change(name) { caller throws(ServiceError) in
            guard var caller else { throw Self.unknown(name) }
            guard caller.revoke(token: id, at: time) else { throw Self.noCredential(name) }
            return caller
        }
        await audit.settle(
            AuditAct(.callerCredentialRevoked, by: actor, caller: name, details: ["credential": "token:\(id)"]))
        return try caller(name)
    }

    /// Lets something of a connection stand for a caller no more.
    ///
    /// - Throws: as `revoke(token:of:by:)`.
    package func unbind(
        _ binding: CallerBinding, from name: String, by actor: Actor
    ) async throws(ServiceError) -> CallerListing {
        try requireStored(name)
        try await change(name) { caller throws(ServiceError) in
            guard var caller else { throw Self.unknown(name) }
            guard caller.bindings.remove(binding) != nil else { throw Self.noCredential(name) }
            return caller
        }
        let credential = CallerCredential.binding(binding).text
        await audit.settle(
            AuditAct(.callerCredentialRevoked, by: actor, caller: name, details: ["credential": credential]))
        return try caller(name)
    }

    /// Removes a caller; its tokens, bindings and keys stand for nobody from now on.
    ///
    /// - Returns: the caller as it was.
    /// - Throws: `callerNotFound`, `callerConflict` for one of the configuration, `storeUnavailable`.
    package func remove(_ name: String, by actor: Actor) async throws(ServiceError) -> CallerListing {
        let isShadowed = registry.read { $0.shadowed.contains(name) }
        if !isShadowed { try requireStored(name) }
        let listing = try caller(name)
        let change = try await store.removeCaller(name, revokingKeysAt: isShadowed ? nil : now())
        guard let change else { throw Self.unknown(name) }
        registry.apply(change)
        logger.notice("Caller removed", metadata: ["caller": "\(name)"])
        await audit.settle(AuditAct(.callerRevoked, by: actor, caller: name))
        return listing
    }
}

// MARK: Parts

extension CallerAdministration {
    private typealias NewToken = (record: AccessToken, text: String)

    private func newToken(for lifetime: Duration?, at time: Date) throws(ServiceError) -> NewToken {
        do {
            let token = try makeToken()
            let record = AccessToken(
                id: token.id, digest: digest(Array(token.text.utf8)), createdAt: time,
                expiresAt: lifetime.map { time.advanced(by: $0) })
            guard record.digest.count == 32 else {
                throw ServiceError(.internalError, "Internal error.", cause: "no digest of a token")
            }
            return (record, token.text)
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(.internalError, "Internal error.", cause: "no randomness for a token: \(error)")
        }
    }

    /// Records an act, where it must be recorded before it happens, and changes a caller.
    private func change(
        _ name: String, recording act: AuditAct? = nil,
        _ edit: @escaping @Sendable (StoredCaller?) throws(ServiceError) -> StoredCaller
    ) async throws(ServiceError) {
        if let act { try await audit.record(act) }
        do throws(ServiceError) {
            registry.apply(try await store.updateCaller(name, edit))
        } catch {
            if let act { await audit.settle(act.failed(error)) }
            throw error
        }
        logger.notice("Caller changed", metadata: ["caller": "\(name)"])
    }

    /// Refuses to change what the configuration declares, and what is not there.
    private func requireStored(_ name: String) throws(ServiceError) {
        let (isConfigured, isStored) = registry.read {
            ($0.configuredCaller(name) != nil, $0.stored[name] != nil)
        }
        if isConfigured {
            throw ServiceError(
                .callerConflict, "The configuration declares the caller `\(name)`; change it there, and restart.")
        }
        guard isStored else { throw Self.unknown(name) }
    }

    private func issued(_ name: String, _ token: NewToken?) -> Issued {
        Issued(
            caller: registry.listing(of: name, apps: apps)
                ?? CallerListing(
                    name: name, source: .none, isShadowed: false, createdAt: nil, scopes: [:], tokens: [], bindings: [],
                    keys: []),
            token: token.map { ($0.record.id, $0.text, $0.record.expiresAt) })
    }

    private static func edited(
        _ caller: StoredCaller?, _ name: String, _ edit: (inout StoredCaller) -> Void
    ) throws(ServiceError) -> StoredCaller {
        guard var caller else { throw unknown(name) }
        edit(&caller)
        return caller
    }

    private static func unknown(_ name: String) -> ServiceError {
        ServiceError(.callerNotFound, "There is no caller `\(name)`; `purser callers list` shows all.")
    }

    private static func taken(_ name: String) -> ServiceError {
        ServiceError(.callerConflict, "The name `\(name)` is taken; `purser callers show \(name)` tells by whom.")
    }

    private static func noCredential(_ name: String) -> ServiceError {
        ServiceError(
            .callerCredentialNotFound, "Caller `\(name)` has no such credential; `purser callers show` lists all.")
    }

    /// Why something of a connection cannot stand for one more caller.
    package static func bound(_ binding: CallerBinding, to owner: String) -> ServiceError {
        ServiceError(
            .callerConflict,
            "\(binding.kind.rawValue) \(binding.value) stands for the caller `\(owner)`; unbind it there.")
    }

    fileprivate static func text(_ scopes: Set<Scope>) -> String {
        scopes.map(\.rawValue).sorted().joined(separator: " ")
    }
}

extension AuditAct {
    /// A caller is added, with what it may do and what proves it.
    static func callerAdded(_ caller: StoredCaller, by actor: Actor) -> AuditAct {
        let scopes = caller.grants.sorted { $0.key < $1.key }.map { app, scopes in
            "\(app): \(CallerAdministration.text(scopes))"
        }
        let credentials =
            caller.tokens.map { "token:\($0.id)" } + caller.bindings.map { CallerCredential.binding($0).text }.sorted()
        return AuditAct(
            .callerAdded, by: actor, caller: caller.name,
            details: [
                "scopes": scopes.joined(separator: "; "), "credentials": credentials.joined(separator: " "),
            ])
    }

    /// That what was recorded has not happened.
    func failed(_ error: ServiceError) -> AuditAct {
        var act = self
        act.details["failed"] = error.reason.rawValue
        return act
    }
}
