import Domain
import Foundation
import OpenSSL
import Testing

@testable import KeyCustody

/// The secrets of an installation under its real master key.
struct InstallationSecretSealerTests {
    private let fixture: KeyFixture
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    init() throws { fixture = try KeyFixture() }

    private func sealer(_ name: String) throws -> InstallationSecretSealer {
        let path = fixture.folder.appending(path: name).path
        let now = now
        return InstallationSecretSealer(vault: try SecretVault.open(.made(path: path)).vault, now: { now })
    }

    @Test func `a secret that was kept in clear makes the same codes when it is sealed`() throws {
        let sealer = try sealer("master")
        let key = Array("0123456789abcdef0123456789abcdef".utf8)
        let sealed = try sealer.seal(key, as: .tombstones)
        #expect(sealed.kind == .installation && sealed.name == "tombstones" && sealed.createdAt == now)
        #expect(Data(sealed.sealed).range(of: Data(key.prefix(8))) == nil)
        let content = Array("content".utf8)
        let secret = try SecureBytes(count: key.count) { $0.copyBytes(from: key) }
        let code = try sealer.authenticator(sealed)
        #expect(try code(content) == HMACSHA256.authenticationCode(for: content, key: secret))
    }

    @Test func `each secret that is made is another one`() throws {
        let sealer = try sealer("master")
        let codes = try (0..<2).map { _ in
            let code = try sealer.authenticator(sealer.make(.pageToken))
            return code([1])
        }
        #expect(codes[0].count == 32 && codes[0] != codes[1])
    }

    @Test func `one that does not open says which, under which master key it is, and which was given`() throws {
        let (one, two) = (try sealer("one"), try sealer("two"))
        let kept = try one.make(.tombstones)
        #expect {
            try two.authenticator(kept)
        } throws: { error in
            let message = (error as? ServiceError)?.message ?? ""
            return message.contains("secret tombstones") && message.contains(kept.masterKeyID)
                && message.contains((try? two.make(.tombstones))?.masterKeyID ?? "-")
        }
    }

    @Test func `what is too short for a key is none`() throws {
        let sealer = try sealer("master")
        let kept = try sealer.seal([UInt8](repeating: 1, count: 15), as: .pageToken)
        #expect(throws: ServiceError(.keyUnavailable, "")) { try sealer.authenticator(kept) }
    }
}
