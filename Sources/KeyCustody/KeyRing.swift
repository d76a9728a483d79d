package import Domain
import OpenSSL

/// The keys of this process: the only place that holds private keys.
package struct KeyRing: Sendable {
    /// A key that can sign.
    struct Key: Sendable {
        let declaration: KeyDeclaration
        let privateKey: ECPrivateKey
    }

    private let keys: [Key]
    private let activeByApp: [String: Key]

    /// Reads every declared key that may still sign.
    ///
    /// - Throws: `KeyFileError` for the first that cannot be used.
    package init(loading declarations: [KeyDeclaration]) throws(KeyFileError) {
        var keys: [Key] = []
        for declaration in declarations where declaration.state == .active || declaration.state == .standby {
            keys.append(Key(declaration: declaration, privateKey: try KeyFile.load(declaration)))
        }
        self.keys = keys
        retired = declarations.filter { $0.state == .retired || $0.state == .revoked }
        activeByApp = Dictionary(
            keys.filter { $0.declaration.state == .active }.flatMap { key in
                key.declaration.apps.map { ($0, key) }
            }
        ) { first, _ in first }
    }

    private let retired: [KeyDeclaration]

    /// The key that signs for an app.
    func activeKey(for app: App) -> Key? { activeByApp[app.slug] }

    /// What an operator may know of the keys, in the order they were declared.
    package var statuses: [KeyStatus] {
        (keys.map(\.declaration) + retired).map {
            KeyStatus(
                keyID: $0.keyID, issuerID: $0.issuerID, state: $0.state, apps: $0.apps, source: $0.source.name)
        }
    }
}
