import Foundation
import Logging

/// Issues and revokes the keys with which callers sign tokens of their own.
package struct CallerKeyService: Sendable {
    /// How often another id is drawn when one is taken.
    private static let maximumDraws = 10

    /// The issuer id that tokens must name: a UUID of this installation's own.
    package let issuerID: String
    let store: any CallerStore
    let registry: CallerRegistry
    let apps: AppCatalog
    let audit: any AuditTrail
    let now: WallClock
    let makeKeyID: @Sendable () -> String
    /// Turns PEM into the DER of a SubjectPublicKeyInfo; nil for what is no public key on P-256.
    let decodePublicKey: @Sendable (String) -> [UInt8]?
    let logger: Logger

    /// What an operator asks for.
    package struct Request: Sendable {
        package let caller: String
        /// The slug of the app that the key is for.
        package let app: String
        /// The public half in PEM (`BEGIN PUBLIC KEY`).
        package let publicKey: String
        /// What the key allows; nil for all that its caller may do with the app.
        package let scopes: Set<Scope>?

        package init(caller: String, app: String, publicKey: String, scopes: Set<Scope>?) {
            self.caller = caller
            self.app = app
            self.publicKey = publicKey
            self.scopes = scopes
        }
    }

    /// Registers a public key; a caller that is not there yet is added with what the key allows.
    ///
    /// - Returns: the key with its id.
    /// - Throws: `invalidRequest` with every broken rule, `auditUnavailable`, `storeUnavailable`.
    package func issue(_ request: Request, by actor: Actor) async throws(ServiceError) -> CallerListing.Key {
        let violations = violations(
            caller: request.caller, app: request.app, publicKey: request.publicKey, scopes: .some(request.scopes))
        guard violations.isEmpty, let publicKey = decodePublicKey(request.publicKey) else {
            throw .invalid(violations)
        }
        for _ in 0..<Self.maximumDraws {
            let key = CallerKey(
                id: makeKeyID(), caller: request.caller, app: request.app, publicKey: publicKey,
                scopes: request.scopes, createdAt: now())
            guard registry.read({ $0.keys[key.id] == nil }) else { continue }
            let act = AuditAct(
                .callerCredentialIssued, by: actor, app: key.app, caller: key.caller,
                details: ["credential": "key:\(key.id)"])
            try await audit.record(act)
            do throws(ServiceError) {
                try await addCallerIfNew(request, by: actor)
                guard try await store.addCallerKey(key) else { continue }
            } catch {
                await audit.settle(act.failed(error))
                throw error
            }
            registry.apply(key)
            logger.notice("Caller key issued", metadata: Self.metadata(key))
            return listed(key)
        }
        throw ServiceError(.internalError, "Internal error.", cause: "no free id for a caller key")
    }

    /// Revokes a caller's key, at once and for good.
    ///
    /// - Throws: `callerCredentialNotFound`, `storeUnavailable`.
    package func revoke(
        _ keyID: String, of caller: String, by actor: Actor
    ) async throws(ServiceError) -> CallerListing.Key {
        guard CallerKey.isID(keyID), CallerName.isValid(caller),
            let key = try await store.revokeCallerKey(id: keyID, caller: caller, at: now())
        else {
            throw ServiceError(
                .callerCredentialNotFound, "This caller has no key with this id; `purser callers list` shows all.")
        }
        registry.apply(key)
        logger.notice("Caller key revoked", metadata: Self.metadata(key))
        await audit.settle(
            AuditAct(
                .callerCredentialRevoked, by: actor, app: key.app, caller: caller,
                details: ["credential": "key:\(key.id)"]))
        return listed(key)
    }

    private func addCallerIfNew(_ request: Request, by actor: Actor) async throws(ServiceError) {
        guard let scopes = request.scopes, registry.read({ $0.caller(request.caller) == nil }) else { return }
        try registry.requireRoom()
        let caller = StoredCaller(name: request.caller, createdAt: now(), grants: [request.app: scopes])
        let act = AuditAct.callerAdded(caller, by: actor)
        try await audit.record(act)
        do throws(ServiceError) {
            registry.apply(try await store.updateCaller(caller.name) { $0 ?? caller })
        } catch {
            await audit.settle(act.failed(error))
            throw error
        }
    }

    private func listed(_ key: CallerKey) -> CallerListing.Key {
        CallerListing.Key(
            key: key, state: registry.read { $0.state(of: key, apps: apps) },
            lastUsedAt: registry.uses(of: key.caller)[.key(id: key.id)])
    }

    private static func metadata(_ key: CallerKey) -> Logger.Metadata {
        ["caller": "\(key.caller)", "app": "\(key.app)", "key": "\(key.id)"]
    }
}

// MARK: Rules of issue

extension CallerKeyService {
    /// Reads what an operator asks for, and checks it.
    ///
    /// - Returns: nil when a rule is broken that leaves nothing to be asked for.
    package func request(for caller: String, _ fields: inout FieldReader) -> Request? {
        let app = fields.text("app", isRequired: true)
        let publicKey = fields.text("publicKey", isRequired: true)
        let scopes = Self.scopes(&fields)
        fields.note(violations(caller: caller, app: app, publicKey: publicKey, scopes: scopes))
        guard let app, let publicKey, let scopes else { return nil }
        return Request(caller: caller, app: app, publicKey: publicKey, scopes: scopes)
    }

    /// What is wrong with a text that is not a public key; nothing of it is quoted.
    private static func publicKeyRule(_ text: String) -> String {
        let rule = "`publicKey` must be a P-256 public key in PEM (`BEGIN PUBLIC KEY`)"
        guard Array(text.utf8).firstRange(of: Array("PRIVATE KEY".utf8)) != nil else { return "\(rule)." }
        return """
            \(rule), and this is a private key. It has left its file: make a new pair, and send the public half \
            (`openssl pkey -in FILE -pubout`).
            """
    }

    /// The scopes of a request, which may say with null that it has none; nil when they cannot be read.
    private static func scopes(_ fields: inout FieldReader) -> Set<Scope>?? {
        let given = fields.peek("scopes")
        if given == .null || given == .array([]) {
            _ = fields.array("scopes", isRequired: false, takesNull: true, expected: "a list of scopes")
            return given == .null ? .some(nil) : .some([])
        }
        guard fields.holds("scopes") else { return .some(nil) }
        return Scope.read("scopes", &fields).map { .some($0) }
    }

    /// Every broken rule; what is nil could not be read, and its rule has been told.
    private func violations(
        caller: String, app: String?, publicKey: String?, scopes: Set<Scope>??
    ) -> [Violation] {
        var violations: [Violation] = []
        func refuse(_ field: String, _ rule: String, _ message: String) {
            violations.append(Violation(field: field, rule: rule, message: message))
        }
        if !CallerName.isValid(caller) { refuse("name", "format", CallerName.rule) }
        let isAppKnown = app.map { (try? apps.app($0)) != nil } ?? false
        if app != nil, !isAppKnown {
            refuse("app", "unknown", "No app is configured under this name; the configuration's `apps` lists them.")
        }
        if let publicKey, decodePublicKey(publicKey) == nil {
            refuse("publicKey", "format", Self.publicKeyRule(publicKey))
        }
        guard let scopes else { return violations }
        let (known, isConfigured) = registry.read { ($0.caller(caller), $0.configuredCaller(caller) != nil) }
        let granted = app.flatMap { known?.scopes[$0] }
        switch (known, scopes) {
        case (_?, _?) where isConfigured:
            refuse(
                "scopes", "configured",
                "The configuration says what this caller may do; leave `scopes` out, or choose another name.")
        case (_?, nil) where isAppKnown && granted == nil:
            refuse(
                "app", "scopes",
                "This caller has no scope for this app; "
                    + (isConfigured ? "add one in the configuration." : "grant one first (`purser callers grant`)."))
        case (_?, let scopes?) where isAppKnown && !scopes.isSubset(of: granted ?? []):
            let missing = scopes.subtracting(granted ?? []).map { "`\($0.rawValue)`" }.sorted()
            refuse(
                "scopes", "granted",
                "A key allows no more than its caller may do, which lacks \(missing.joined(separator: ", ")).")
        case (nil, nil):
            refuse("scopes", "required", "There is no caller of this name; say with `scopes` what a new one may do.")
        case (nil, let scopes?) where scopes.isEmpty:
            refuse("scopes", "empty", "A key without any scope is of no use; name at least one.")
        default: break
        }
        return violations
    }
}
