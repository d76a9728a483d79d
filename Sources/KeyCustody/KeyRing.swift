package import Domain
import OpenSSL
import Synchronization

/// The keys of this process: the only place that holds private keys.
package final class KeyRing: Sendable {
    /// A key that can sign.
    struct Key: Sendable {
        let declaration: KeyDeclaration
        let privateKey: ECPrivateKey

        var keyID: String { declaration.keyID }
    }

    /// Who signs for which app at present.
    private struct Roles {
        private(set) var activeByApp: [String: Key]
        /// For how many apps each key signs, by its id.
        private var appCounts: [String: Int]
        /// In the order in which they happened.
        private(set) var takeovers: [KeyTakeover] = []
        /// Keys that a standby key has replaced for an app.
        private(set) var replaced: Set<String> = []

        init(activeByApp: [String: Key]) {
            self.activeByApp = activeByApp
            appCounts = Dictionary(activeByApp.values.map { ($0.keyID, 1) }, uniquingKeysWith: +)
        }

        func isActive(_ keyID: String) -> Bool { appCounts[keyID, default: 0] > 0 }

        /// Puts a key in the place of another.
        mutating func apply(_ takeover: KeyTakeover, _ key: Key) {
            activeByApp[takeover.app] = key
            appCounts[takeover.refusedKeyID, default: 0] -= 1
            appCounts[key.keyID, default: 0] += 1
            replaced.insert(takeover.refusedKeyID)
            takeovers.append(takeover)
        }
    }

    /// Those that can sign, in the order they were declared.
    private let keys: [Key]
    private let declarations: [KeyDeclaration]
    private let roles: Mutex<Roles>

    /// Reads every declared key that may still sign.
    ///
    /// - Throws: `KeyFileError` for the first that cannot be used.
    package init(loading declarations: [KeyDeclaration]) throws(KeyFileError) {
        var keys: [Key] = []
        for declaration in declarations where Self.canSign(declaration) {
            keys.append(Key(declaration: declaration, privateKey: try KeyFile.load(declaration)))
        }
        self.keys = keys
        self.declarations =
            declarations.filter(Self.canSign) + declarations.filter { !Self.canSign($0) }
        let active = keys.filter { $0.declaration.state == .active }
        roles = Mutex(
            Roles(
                activeByApp: Dictionary(active.flatMap { key in key.declaration.apps.map { ($0, key) } }) { first, _ in
                    first
                }))
    }

    private static func canSign(_ declaration: KeyDeclaration) -> Bool {
        declaration.state == .active || declaration.state == .standby
    }

    /// The key that signs for an app.
    func activeKey(for app: App) -> Key? { roles.withLock { $0.activeByApp[app.slug] } }

    /// The key to sign with for an app.
    ///
    /// - Throws: `keyUnavailable` when it has none.
    func signingKey(for app: App) throws(ServiceError) -> Key {
        guard let key = activeKey(for: app) else {
            throw ServiceError(
                .keyUnavailable, "App `\(app.slug)` has no active key; declare one in the configuration's `keys`.")
        }
        return key
    }

    /// The id of the key that signs for an app, for whoever must not see the key.
    package func activeKeyID(for app: App) -> String? { activeKey(for: app)?.keyID }

    /// The keys that could take over for an app, in the order they were declared.
    func standbyKeys(for app: App) -> [Key] { roles.withLock { standbyKeys(for: app.slug, $0) } }

    private func standbyKeys(for app: String, _ roles: Roles) -> [Key] {
        keys.filter { key in
            key.declaration.state == .standby && key.declaration.apps.contains(app)
                && roles.activeByApp[app]?.keyID != key.keyID && !roles.replaced.contains(key.keyID)
        }
    }

    /// Makes a standby key the active one of an app, until the configuration says otherwise.
    ///
    /// - Returns: false when the refused key is not the active one any more, or the other none that stands by.
    func activate(_ takeover: KeyTakeover) -> Bool {
        roles.withLock { roles in
            guard roles.activeByApp[takeover.app]?.keyID == takeover.refusedKeyID,
                let key = standbyKeys(for: takeover.app, roles).first(where: { $0.keyID == takeover.keyID })
            else { return false }
            roles.apply(takeover, key)
            return true
        }
    }

    /// The take-overs in force, in the order in which they happened.
    package var takeovers: [KeyTakeover] { roles.withLock(\.takeovers) }

    /// Takes up the take-overs of an earlier run.
    ///
    /// One of which the refused key is not active any more, or the other not on standby, is over: the configuration has
    /// decided since.
    /// - Returns: those in force.
    package func resume(_ kept: [KeyTakeover]) -> [KeyTakeover] {
        // One may rest on another, and a clock that was set back between them has put it first.
        var rest = kept.sorted { $0.at < $1.at }
        var count = -1
        while rest.count != count {
            count = rest.count
            rest = rest.filter { !activate($0) }
        }
        return takeovers
    }

    /// What an operator may know of the keys at present; those that can sign come first.
    package var statuses: [KeyStatus] {
        roles.withLock { roles in
            declarations.map { declaration in
                KeyStatus(
                    keyID: declaration.keyID, issuerID: declaration.issuerID, state: Self.state(declaration, roles),
                    apps: declaration.apps, source: declaration.source.name)
            }
        }
    }

    /// A key counts as active while it signs for any app, and as retired once it has been replaced everywhere.
    private static func state(_ declaration: KeyDeclaration, _ roles: Roles) -> KeyStatus.State {
        guard canSign(declaration) else { return declaration.state }
        if roles.isActive(declaration.keyID) { return .active }
        return roles.replaced.contains(declaration.keyID) ? .retired : declaration.state
    }
}

/// One In-App Purchase key as the configuration declares it.
package struct KeyDeclaration: Sendable, Equatable {
    /// Apple's key id: the token's `kid`.
    package let keyID: String
    /// Apple's issuer id: the token's `iss`.
    package let issuerID: String
    /// The `.p8` file.
    package let path: String
    /// Where the file comes from.
    package let source: Source
    package let state: KeyStatus.State
    /// The apps it signs for, by slug.
    package let apps: [String]

    package enum Source: Sendable, Equatable {
        /// A file that the configuration names. Group-readable only where the operator says so (Kubernetes `fsGroup`).
        case file(allowsGroupRead: Bool)
        /// A file of `$CREDENTIALS_DIRECTORY`, which systemd shows group-readable from version 254 on.
        case credential

        var allowsGroupRead: Bool {
            switch self {
            case .file(let allowed): allowed
            case .credential: true
            }
        }

        var name: String {
            switch self {
            case .file: "file"
            case .credential: "credential"
            }
        }
    }

    package init(
        keyID: String, issuerID: String, path: String, source: Source, state: KeyStatus.State, apps: [String]
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.path = path
        self.source = source
        self.state = state
        self.apps = apps
    }
}
