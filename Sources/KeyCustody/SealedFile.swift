import Foundation
import OpenSSL

/// A file that holds one secret of the installation, sealed under its master key, for what must not be in the database.
package struct SealedFile: Sendable {
    /// The largest file read, in bytes; a sealed key takes 129.
    private static let maximumBytes = 64 * 1024

    package let path: String
    /// What the secret is: it opens as nothing else.
    package let identity: SecretIdentity

    package init(path: String, identity: SecretIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Reads the secret as it is sealed.
    ///
    /// It blocks.
    ///
    /// - Throws: `SecretFileError`
    package func read() throws(SecretFileError) -> SealedSecret {
        let bytes = try SecretFile.read(path, allowsGroupRead: false, maximumBytes: Self.maximumBytes)
        return SealedSecret(bytes: bytes.withUnsafeBytes { Array($0) })
    }

    /// Seals the secret under the vault's present master key, unless it is.
    ///
    /// It blocks.
    ///
    /// - Returns: whether the file was changed; it holds the one or the other form whole at every moment.
    /// - Throws: `SecretFileError` naming the file.
    func rewrap(with vault: SecretVault) throws(SecretFileError) -> Bool {
        let sealed = try read()
        guard sealed.masterKeyID != vault.masterKeyID else { return false }
        let anew: SealedSecret
        let bytes: SecureBytes
        do {
            anew = try vault.rewrapped(sealed, as: identity)
            bytes = try SecureBytes(count: anew.bytes.count) { $0.copyBytes(from: anew.bytes) }
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
        let draft = SecretFileDraft.path(for: path)
        try SecretFile.create(bytes, at: draft)
        guard rename(draft, path) == 0 else {
            let code = errno
            SecretFile.remove(draft)
            throw SecretFileError(path: path, problem: "cannot be replaced: \(SecretFile.systemError(code))")
        }
        SecretFile.flushFolder(of: path)
        return true
    }

    /// Which master key the secret is sealed under; nil for a file that cannot be read, or does not tell it in a way that this
    /// version knows.
    package var masterKeyID: String? { (try? read()).flatMap { $0.namesMasterKey ? $0.masterKeyID : nil } }
}
