import Domain
import JOSE
import OpenSSL
import StoreSQLite
import Systemd

/// Opens the store, asking the service manager for patience while migrations run.
func openStore(_ location: StoreLocation, _ surroundings: Surroundings) async throws -> SQLiteStore {
    let patience = Task {
        repeat {
            await surroundings.notifier.tell(
                .extendTimeout(.seconds(30)), .status("Opening the store"), logger: surroundings.logger)
        } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
    defer { patience.cancel() }
    switch location {
    case .sqlite(let path):
        return try await SQLiteStore.open(at: path) { key in
            TombstoneHasher(authenticationCode: authenticator(key: key))
        }
    }
}

extension PageTokenCoder {
    /// Page tokens authenticated with a key that the store keeps.
    ///
    /// - Throws: `storeUnavailable`, or `OpenSSLError` when there is no randomness for the key.
    init(store: SQLiteStore) async throws {
        let key = try await store.installationKey(name: "pageToken") { try SecureRandom.bytes(32) }
        self.init(
            authenticationCode: authenticator(key: key), encode: { Base64URL.encode($0) },
            decode: { Base64URL.decode($0) })
    }
}

/// Computes authentication codes (HMAC-SHA-256, RFC 2104) under a key of this installation; what cannot be computed is
/// empty, which is no code.
private func authenticator(key: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
    let secret = try? SecureBytes(count: key.count) { $0.copyBytes(from: key) }
    return { content in
        guard let secret else { return [] }
        return (try? HMACSHA256.authenticationCode(for: content, key: secret)) ?? []
    }
}
