import Foundation
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
    /// The permissions are those of the file that is read, not of the name: they are taken from the open descriptor.
    /// - Throws: `KeyFileError`; where permissions are the problem it names the `chmod` to run.
    package static func load(_ declaration: KeyDeclaration) throws(KeyFileError) -> ECPrivateKey {
        func refuse(_ problem: String) -> KeyFileError {
            KeyFileError(keyID: declaration.keyID, path: declaration.path, problem: problem)
        }
        let descriptor = open(declaration.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw refuse("cannot open: \(systemError())") }
        defer { close(descriptor) }
        if let problem = permissionProblem(of: descriptor, declaration) { throw refuse(problem) }
        let bytes: SecureBytes
        do {
            bytes = try SecureBytes(readingFrom: descriptor, maximumCount: maximumBytes)
        } catch {
            throw refuse("\(error)")
        }
        do {
            return try ECPrivateKey(pkcs8PEM: bytes)
        } catch {
            throw refuse("\(error)")
        }
    }

    /// What is wrong with the file's type or permissions, if anything; used by `purser config check` too.
    package static func permissionProblem(_ declaration: KeyDeclaration) -> String? {
        let descriptor = open(declaration.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "cannot open: \(systemError())" }
        defer { close(descriptor) }
        return permissionProblem(of: descriptor, declaration)
    }

    private static func permissionProblem(of descriptor: CInt, _ declaration: KeyDeclaration) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "cannot examine: \(systemError())" }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
        let mode = status.st_mode & 0o777
        let forbidden: mode_t = declaration.source.allowsGroupRead ? 0o037 : 0o077
        guard mode & forbidden != 0 else { return nil }
        let octal = String(mode, radix: 8)
        let wanted = declaration.source.allowsGroupRead ? "0440" : "0400"
        return
            "its permissions (0\(octal)) let others at the key; run: chmod \(wanted) \(declaration.path)"
    }

    private static func systemError() -> String { String(cString: strerror(errno)) }
}
