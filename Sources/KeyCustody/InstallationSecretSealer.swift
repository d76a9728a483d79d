package import Domain
import OpenSSL

/// The secrets of an installation, sealed under its master key; outside of it nobody has their bytes.
package struct InstallationSecretSealer: InstallationSecrets {
    /// The shortest key of an authentication code that is believed, in bytes.
    private static let minimumBytes = 16

    private let vault: SecretVault
    package let now: WallClock
    package let acceptedLosses: Set<String>

    /// `acceptedLosses`: the ids of the master keys whose loss the operator accepts at this start.
    package init(vault: SecretVault, acceptedLosses: Set<String> = [], now: @escaping WallClock) {
        self.vault = vault
        self.acceptedLosses = acceptedLosses
        self.now = now
    }

    package func holds(masterKeyID: String) -> Bool { vault.holds(masterKeyID: masterKeyID) }

    package func make(_ secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord {
        do {
            return try seal(AuthenticatedEncryption.makeKey(), as: secret)
        } catch let error as ServiceError {
            throw error
        } catch {
            throw Self.unavailable(secret, "\(error)")
        }
    }

    package func seal(_ clear: [UInt8], as secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord {
        let bytes: SecureBytes
        do throws(SecureBytesError) {
            bytes = try SecureBytes(count: clear.count) { $0.copyBytes(from: clear) }
        } catch {
            throw Self.unavailable(secret, "\(error)")
        }
        return try seal(bytes, as: secret)
    }

    private func seal(_ bytes: SecureBytes, as secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord {
        do throws(SealingError) {
            return try vault.seal(bytes, installationSecret: secret.rawValue, at: now())
        } catch {
            throw Self.unavailable(secret, "\(error)")
        }
    }

    package func authenticator(
        _ kept: SealedSecretRecord
    ) throws(ServiceError) -> @Sendable ([UInt8]) -> [UInt8] {
        let key: SecureBytes
        do throws(SealingError) {
            key = try vault.open(installationSecret: kept)
        } catch {
            throw ServiceError(.keyUnavailable, "\(error)")
        }
        guard key.count >= Self.minimumBytes else {
            throw ServiceError(.keyUnavailable, "secret \(kept.name) has \(key.count) bytes, which is no key")
        }
        return { content in (try? HMACSHA256.authenticationCode(for: content, key: key)) ?? [] }
    }

    private static func unavailable(_ secret: InstallationSecret, _ cause: String) -> ServiceError {
        ServiceError(.keyUnavailable, "\(secret.purpose) cannot be sealed: \(cause)")
    }
}
