import OpenSSL
import Testing

@Suite struct SecureHeapTests {
    /// Runs in a process of its own, since the arena is made once per process.
    @Test func theArenaServesKeysAndIsMadeOnlyOnce() async {
        await #expect(processExitsWith: .success) {
            try SecureHeap.enable(byteCount: 1 << 15)
            let key = try ECPrivateKey(pkcs8PEM: ECPrivateKey.generate().pkcs8PEM())
            #expect(try key.publicKey.isValidSignature(key.signature(for: [1]), for: [1]))
            #expect(throws: OpenSSLError.self) { try SecureHeap.enable(byteCount: 1 << 15) }
        }
    }
}
