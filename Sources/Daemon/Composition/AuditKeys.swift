import AuditLog
import Foundation
import KeyCustody
import OpenSSL

/// The keys of the audit's chains: each in a file of the audit's directory, sealed under the master key.
///
/// Neither the database nor a backup of it holds them: who can write it cannot make records.
struct SealedAuditKeys: AuditKeySource {
    let directory: AuditDirectory
    let vault: SecretVault

    /// The files, for whoever seals everything under another master key.
    ///
    /// - Throws: `AuditFileError` when they cannot be listed.
    func files() throws(AuditFileError) -> [SealedFile] { try directory.chainsWithKeys().map(file) }

    /// The file of a chain's key.
    static func file(_ chain: String, in directory: AuditDirectory) -> SealedFile {
        SealedFile(path: directory.keyPath(chain: chain), identity: identity(chain))
    }

    private func file(_ chain: String) -> SealedFile { Self.file(chain, in: directory) }

    func key(chain: String) throws(AuditKeyError) -> AuditKey {
        // The name comes from the head of a segment, before anything authenticates it.
        guard AuditDirectory.isChain(chain) else { throw AuditKeyError("the segment names no chain") }
        return try naming { () throws in
            let sealed = try file(chain).read()
            return try AuditKey(vault.open(sealed, as: Self.identity(chain)))
        }
    }

    func make() throws(AuditKeyError) -> AuditKey {
        try naming { () throws in
            let random = try SecureRandom.bytes(AuditKey.count)
            let bytes = try SecureBytes(count: random.count) { $0.copyBytes(from: random) }
            let key = try AuditKey(bytes)
            let sealed = try vault.seal(bytes, as: Self.identity(key.chain)).bytes
            try SecretFile.create(
                SecureBytes(count: sealed.count) { $0.copyBytes(from: sealed) },
                at: directory.keyPath(chain: key.chain))
            return key
        }
    }

    private static func identity(_ chain: String) -> SecretIdentity { .installationSecret("audit chain \(chain)") }

    private func naming<Value>(_ work: () throws -> Value) throws(AuditKeyError) -> Value {
        do {
            return try work()
        } catch {
            throw AuditKeyError("\(error)")
        }
    }
}
