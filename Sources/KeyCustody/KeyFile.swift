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
    /// The largest file read, in bytes; a P-256 key takes less than 300.
    package static let maximumBytes = 16 * 1024

    /// Reads and parses a key.
    ///
    /// - Throws: `KeyFileError`; where permissions are the problem it names the `chmod` to run.
    package static func load(_ declaration: KeyDeclaration) throws(KeyFileError) -> ECPrivateKey {
        func refusal(_ problem: String) -> KeyFileError {
            KeyFileError(keyID: declaration.keyID, path: declaration.path, problem: problem)
        }
        let text: SecureBytes
        do throws(SecretFileError) {
            text = try SecretFile.read(
                declaration.path, allowsGroupRead: declaration.source.allowsGroupRead, maximumBytes: maximumBytes)
        } catch {
            throw refusal(error.problem)
        }
        do throws(PrivateKeyError) {
            return try ECPrivateKey(pkcs8PEM: text)
        } catch {
            throw refusal("\(error)")
        }
    }

    /// What is wrong with the file's type or permissions, if anything; used by `purser config check` too.
    package static func permissionProblem(_ declaration: KeyDeclaration) -> String? {
        SecretFile.permissionProblem(declaration.path, allowsGroupRead: declaration.source.allowsGroupRead)
    }
}
