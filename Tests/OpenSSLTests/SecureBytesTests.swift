import Foundation
import OpenSSL
import Synchronization
import Testing

@Suite struct SecureBytesTests {
    /// A file that exists while the body runs.
    private func withFile(_ content: [UInt8], _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func content(of secret: SecureBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

    @Test func bytesAreWipedBeforeTheirMemoryIsGivenBack() throws {
        let seen = Mutex<[UInt8]?>(nil)
        func use() throws {
            let observe: @Sendable (UnsafeRawBufferPointer) -> Void = { bytes in seen.withLock { $0 = Array(bytes) } }
            let secret = try SecureBytes(count: 5000, observeRelease: observe) {
                $0.initializeMemory(as: UInt8.self, repeating: 7)
            }
            #expect(content(of: secret) == [UInt8](repeating: 7, count: 5000))
            #expect(seen.withLock { $0 } == nil)
        }
        try use()
        #expect(seen.withLock { $0 } == [UInt8](repeating: 0, count: 5000))
    }

    @Test func aFileIsReadToItsEnd() throws {
        for count in [0, 1, 4095, 4096, 4097, 20_000] {
            let content = try SecureRandom.bytes(count)
            try withFile(content) { path in
                let secret = try SecureBytes(contentsOfFile: path, maximumCount: 20_000)
                #expect(secret.count == count)
                #expect(self.content(of: secret) == content)
            }
        }
    }

    @Test func aFileBeyondTheLimitIsRefused() throws {
        try withFile([UInt8](repeating: 1, count: 11)) { path in
            #expect(throws: SecureBytesError.tooLarge(maximumCount: 10)) {
                _ = try SecureBytes(contentsOfFile: path, maximumCount: 10)
            }
            let exact = try SecureBytes(contentsOfFile: path, maximumCount: 11)
            #expect(exact.count == 11)
        }
    }

    @Test func aFileThatCannotBeReadSaysWhy() {
        #expect(throws: SecureBytesError.openFailed(ENOENT)) {
            _ = try SecureBytes(contentsOfFile: "/nonexistent/file", maximumCount: 10)
        }
        #expect(throws: SecureBytesError.readFailed(EISDIR)) {
            _ = try SecureBytes(contentsOfFile: "/", maximumCount: 10)
        }
        #expect(SecureBytesError.openFailed(ENOENT).description == "cannot open: No such file or directory")
    }

    @Test func aDescriptorIsReadFromWhereItStandsAndStaysOpen() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        try #require(write(ends[1], "secret", 6) == 6)
        close(ends[1])
        #expect(content(of: try SecureBytes(readingFrom: ends[0], maximumCount: 100)) == Array("secret".utf8))
        #expect(fcntl(ends[0], F_GETFD) >= 0)
    }

    @Test func theContentShowsNowhere() throws {
        let secret = try SecureBytes(count: 6) { $0.copyBytes(from: "secret".utf8) }
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!text.contains("secret\""))
            #expect(!text.contains("115"), "the first byte")
        }
        #expect("\(secret)" == "6 secret bytes")
    }
}

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
