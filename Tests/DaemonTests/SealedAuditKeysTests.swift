import AuditLog
import Foundation
import KeyCustody
import Testing

@testable import Daemon

struct SealedAuditKeysTests {
    @Test(arguments: ["../other/0123456789abcdef", "", "a/b", "A0", String(repeating: "a", count: 65)])
    func `a chain's name never leads out of the directory`(chain: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-chain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (vault, _) = try SecretVault.open(.made(path: folder.appending(path: "masterkey").path))
        let keys = SealedAuditKeys(directory: AuditDirectory(folder.appending(path: "audit").path), vault: vault)
        let error = #expect(throws: AuditKeyError.self) { try keys.key(chain: chain) }
        #expect(error?.description == "the segment names no chain")
    }
}
