package import Domain
package import OpenSSL

/// Why a key file is refused: which key, which file, what is wrong and what to do.
package struct KeyFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let keyID: String
    package let path: String
    package let problem: String

    package var description: String { "key \(keyID), file \(path): \(problem)" }
}

/// Reads a key file that nobody else can read.
package enum KeyFile {
    /// Reads and parses a key.
    ///
    /// - Throws: `KeyFileError`; where permissions are the problem it names the `chmod` or `chown` to run.
    package static func load(_ declaration: KeyDeclaration) throws(KeyFileError) -> ECPrivateKey {
        func refusal(_ problem: String) -> KeyFileError {
            KeyFileError(keyID: declaration.keyID, path: declaration.path, problem: problem)
        }
        let text: SecureBytes
        do throws(SecretFileError) {
            text = try SecretFile.read(
                declaration.path, allowsGroupRead: declaration.source.allowsGroupRead, owners: declaration.owners,
                maximumBytes: KeyFacts.maximumFileBytes)
        } catch {
            throw refusal(error.problem)
        }
        do throws(PrivateKeyError) {
            return try ECPrivateKey(pkcs8PEM: text)
        } catch {
            throw refusal("\(error)")
        }
    }

    /// What is wrong with the file's type, permissions, owner or directory, if anything.
    package static func permissionProblem(_ declaration: KeyDeclaration) -> String? {
        SecretFile.permissionProblem(
            declaration.path, allowsGroupRead: declaration.source.allowsGroupRead, owners: declaration.owners)
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
    /// The users who may own the file and its directory.
    package let owners: SecretFileOwners

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

        var kind: KeyFacts.Source {
            switch self {
            case .file: .file
            case .credential: .credential
            }
        }
    }

    package init(
        keyID: String, issuerID: String, path: String, source: Source, state: KeyStatus.State, apps: [String],
        owners: SecretFileOwners = SecretFileOwners()
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.path = path
        self.source = source
        self.state = state
        self.apps = apps
        self.owners = owners
    }
}
