import Foundation
package import Logging

/// Issues, lists and revokes the keys with which callers sign tokens of their own.
package struct CallerKeyService: Sendable {
    /// How often another id is drawn when one is taken.
    private static let maximumDraws = 10

    /// The issuer id that tokens must name: a UUID of this installation's own.
    package let issuerID: String
    private let store: any CallerKeyStore
    private let register: CallerRegister
    private let apps: AppCatalog
    private let now: WallClock
    private let makeKeyID: @Sendable () -> String
    private let decodePublicKey: @Sendable (String) -> [UInt8]?
    private let logger: Logger

    /// `decodePublicKey`: turns PEM into the DER of a SubjectPublicKeyInfo; nil for what is no public key on P-256.
    package init(
        issuerID: String, store: any CallerKeyStore, register: CallerRegister, apps: AppCatalog,
        now: @escaping WallClock, makeKeyID: @escaping @Sendable () -> String = CallerKey.randomID,
        decodePublicKey: @escaping @Sendable (String) -> [UInt8]?, logger: Logger
    ) {
        self.issuerID = issuerID
        self.store = store
        self.register = register
        self.apps = apps
        self.now = now
        self.makeKeyID = makeKeyID
        self.decodePublicKey = decodePublicKey
        self.logger = logger
    }

    /// What an operator asks for.
    package struct Request: Sendable {
        package let caller: String
        /// The slug of the app that the key is for.
        package let app: String
        /// The public half in PEM (`BEGIN PUBLIC KEY`).
        package let publicKey: String
        /// What the caller may do; nil for a caller of the configuration.
        package let scopes: Set<Scope>?

        package init(caller: String, app: String, publicKey: String, scopes: Set<Scope>?) {
            self.caller = caller
            self.app = app
            self.publicKey = publicKey
            self.scopes = scopes
        }
    }

    /// A caller with its keys.
    package struct Listing: Sendable {
        package let name: String
        package let isConfigured: Bool
        /// What the configuration allows it, by app slug; empty for a caller that exists by its keys alone.
        package let scopes: [String: Set<Scope>]
        /// In the order of issue.
        package let keys: [ListedKey]
    }

    /// A key as it stands.
    package struct ListedKey: Sendable {
        package enum State: String, Sendable, CaseIterable {
            case active
            case revoked
            /// It stands for no caller or app of the configuration as it is now.
            case orphaned
        }

        package let key: CallerKey
        package let state: State
    }

    /// Registers a public key.
    ///
    /// - Returns: the key with its id.
    /// - Throws: `invalidRequest` with every broken rule, `storeUnavailable`.
    package func issue(_ request: Request) async throws(ServiceError) -> ListedKey {
        let violations = violations(
            caller: request.caller, app: request.app, publicKey: request.publicKey, scopes: .some(request.scopes))
        guard violations.isEmpty, let publicKey = decodePublicKey(request.publicKey) else {
            throw .invalid(violations)
        }
        for _ in 0..<Self.maximumDraws {
            let key = CallerKey(
                id: makeKeyID(), caller: request.caller, app: request.app, publicKey: publicKey,
                scopes: request.scopes, createdAt: now())
            guard try await store.addCallerKey(key) else { continue }
            logger.notice("Caller key issued", metadata: Self.metadata(key))
            return listed(key)
        }
        throw ServiceError(.internalError, "Internal error.", cause: "no free id for a caller key")
    }

    /// Every caller, those of the configuration first, each with its keys.
    ///
    /// - Throws: `storeUnavailable`.
    package func callers() async throws(ServiceError) -> [Listing] {
        register.listings(of: try await store.callerKeys(), apps: apps)
    }

    /// Revokes a caller's key, at once and for good.
    ///
    /// - Throws: `callerKeyNotFound`, `storeUnavailable`.
    package func revoke(_ keyID: String, of caller: String) async throws(ServiceError) -> ListedKey {
        guard CallerKey.isID(keyID), Self.isName(caller),
            let key = try await store.revokeCallerKey(id: keyID, caller: caller, at: now())
        else {
            throw ServiceError(
                .callerKeyNotFound, "This caller has no key with this id; `purser callers list` shows all.")
        }
        logger.notice("Caller key revoked", metadata: Self.metadata(key))
        return listed(key)
    }

    private func listed(_ key: CallerKey) -> ListedKey { register.listed(key, apps: apps) }

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

    /// The scopes of a request, which may say with null that it has none; nil when they cannot be read.
    private static func scopes(_ fields: inout FieldReader) -> Set<Scope>?? {
        let isGiven = fields.holds("scopes") && fields.peek("scopes") != .null
        guard let names = fields.array("scopes", isRequired: false, takesNull: true, expected: "a list of scopes")
        else { return isGiven ? nil : .some(nil) }
        let scopes = names.compactMap { name in
            if case .string(let text) = name { Scope(rawValue: text) } else { nil }
        }
        guard scopes.count == names.count else {
            let known = Scope.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            fields.note("scopes", "enum", "Each of `scopes` must be one of \(known).")
            return nil
        }
        return .some(Set(scopes))
    }

    /// Every broken rule; what is nil could not be read, and its rule has been told.
    private func violations(
        caller: String, app: String?, publicKey: String?, scopes: Set<Scope>??
    ) -> [Violation] {
        var violations: [Violation] = []
        func refuse(_ field: String, _ rule: String, _ message: String) {
            violations.append(Violation(field: field, rule: rule, message: message))
        }
        if !Self.isName(caller) {
            refuse("name", "format", "A caller's name is 1 to 63 of `a`–`z`, `0`–`9` and `-`, not beginning with `-`.")
        }
        let isAppKnown = app.map { (try? apps.app($0)) != nil } ?? false
        if app != nil, !isAppKnown {
            refuse("app", "unknown", "No app is configured under this name; the configuration's `apps` lists them.")
        }
        if let publicKey, decodePublicKey(publicKey) == nil {
            refuse("publicKey", "format", "`publicKey` must be a P-256 public key in PEM (`BEGIN PUBLIC KEY`).")
        }
        guard let scopes else { return violations }
        switch (register.configuredCaller(caller), scopes) {
        case (_?, _?):
            refuse(
                "scopes", "configured",
                "The configuration says what this caller may do; leave `scopes` out, or choose another name.")
        case (let caller?, nil) where isAppKnown && app.flatMap { caller.scopes[$0] } == nil:
            refuse("app", "scopes", "The configuration gives this caller no scope for this app; add one there.")
        case (nil, nil):
            refuse(
                "scopes", "required",
                "The configuration has no caller of this name; say with `scopes` what a new one may do.")
        case (nil, let scopes?) where scopes.isEmpty:
            refuse("scopes", "empty", "A key without any scope is of no use; name at least one.")
        default: break
        }
        return violations
    }

    private static func isName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
