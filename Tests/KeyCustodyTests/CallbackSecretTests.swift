import Domain
import Foundation
import KeyCustody
import OpenSSL
import TestSupport
import Testing

/// Signatures by Standard Webhooks.
struct CallbackSecretTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func vault() throws -> SecretVault {
        let path = FileManager.default.temporaryDirectory.appending(path: "master-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try SecretVault.open(.made(path: path)).vault
    }

    /// The example of the standard's own libraries; openssl says the same:
    /// `printf %s 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}' |
    /// openssl dgst -sha256 -mac HMAC -macopt hexkey:$(echo MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw | base64 -d | xxd -p -c 99) -binary | base64`.
    @Test func `a signature is the standard's`() throws {
        let vault = try vault()
        let key = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let bytes = try SecureBytes(count: key.count) { $0.copyBytes(from: key) }
        let sealed = try vault.seal(bytes, as: .callbackSecret("c/1"))
        let record = SealedSecretRecord(
            kind: .callback, name: "c/1", sealed: sealed.bytes, masterKeyID: vault.masterKeyID, createdAt: Self.now)
        let signature = try CallbackSecretSealer(vault: vault).signature(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            with: [record])
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `each secret signs, and one of another callback does not open`() throws {
        let sealer = CallbackSecretSealer(vault: try vault())
        let (first, second) = (try sealer.make("c/1", at: Self.now), try sealer.make("c/2", at: Self.now))
        #expect(first.text.hasPrefix("whsec_") && first.text != second.text)
        let key = try #require(Data(base64Encoded: String(first.text.dropFirst(6))))
        #expect(key.count == 32)
        let both = try sealer.signature(of: [1], id: "a", timestamp: 1, with: [second.record, first.record])
        let alone = try sealer.signature(of: [1], id: "a", timestamp: 1, with: [first.record])
        #expect(both.split(separator: " ").count == 2 && both.hasSuffix(alone))
        let moved = SealedSecretRecord(
            kind: .callback, name: "d/1", sealed: first.record.sealed, masterKeyID: first.record.masterKeyID,
            createdAt: Self.now)
        #expect(throws: ServiceError.self) {
            try sealer.signature(of: [1], id: "a", timestamp: 1, with: [moved])
        }
        #expect(throws: ServiceError.self) { try sealer.signature(of: [1], id: "a", timestamp: 1, with: []) }
    }
}
