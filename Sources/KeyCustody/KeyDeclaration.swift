package import Domain

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
