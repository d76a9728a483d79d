package import Domain
package import Foundation
import OpenSSL

/// The secrets of callbacks, sealed under the installation's master key; whoever made a callback was shown its secret once.
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Signature scheme"
package struct CallbackSecretSealer: CallbackSecrets {
    /// What a secret begins with where people see it.
    private static let prefix = "whsec_"
    /// What each signature begins with: HMAC-SHA-256.
    private static let version = "v1,"

    private let vault: SecretVault

    package init(vault: SecretVault) { self.vault = vault }

    package func make(
        _ name: String, at now: Date
    ) throws(ServiceError) -> (text: String, record: SealedSecretRecord) {
        do {
            // 32 random bytes, as for a data key; the standard wants 24 to 64.
            let secret = try AuthenticatedEncryption.makeKey()
            let sealed = try vault.seal(secret, as: .callbackSecret(name))
            let text = secret.withUnsafeBytes { Data($0).base64EncodedString() }
            return (Self.prefix + text, vault.record(of: sealed, kind: .callback, name: name, createdAt: now))
        } catch {
            throw ServiceError(.keyUnavailable, "The secret of a callback cannot be sealed.", cause: "\(error)")
        }
    }

    package func signature(
        of body: [UInt8], id: String, timestamp: Int64, with secrets: [SealedSecretRecord]
    ) throws(ServiceError) -> String {
        let content = Array("\(id).\(timestamp).".utf8) + body
        var signatures: [String] = []
        for record in secrets {
            do {
                let key = try vault.open(SealedSecret(bytes: record.sealed), as: .callbackSecret(record.name))
                let code = try HMACSHA256.authenticationCode(for: content, key: key)
                signatures.append(Self.version + Data(code).base64EncodedString())
            } catch {
                throw ServiceError(.keyUnavailable, "\(error)")
            }
        }
        guard !signatures.isEmpty else { throw ServiceError(.keyUnavailable, "the callback has no secret") }
        return signatures.joined(separator: " ")
    }
}
