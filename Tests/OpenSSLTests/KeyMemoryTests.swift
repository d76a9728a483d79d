import Foundation
import OpenSSL
import TestSupport
import Testing

/// Looks for a private key in the memory of the whole process.
///
/// The key was made for this test and is used nowhere else.
@Suite(.enabled(if: ProcessMemory.isSearchable, "a sanitizer keeps terabytes beside this memory"))
struct KeyMemoryTests {
    /// A literal lies in the pages of the program's file, which the search leaves out.
    ///
    /// What is searched for is not in one piece in this source, which other tests read.
    private static let pem: StaticString = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyhSD7EcuMGasxAPU
        PNVj9yO4HHREGf2T\
        LWHCKOMnTYGhRANCAARq13I56Jj/Mm8CQXn5baAPUAnQJN5X
        RzOIYF4tr6gE6o8lbzqBFk8U8CJxP+tAEGfAGDlkhcEu59ZLENC4AIZm
        -----END PRIVATE KEY-----

        """
    /// The private number, inverted.
    private static let number = [UInt8](
        hexadecimal: "35eb7c13b8d1cf99533bfc2bc32a9c08dc47e38bbbe6026cd29e3dd71cd8b27e")
    /// Half of its digits in the PEM text, inverted.
    private static let text = [UInt8](
        hexadecimal: "afb1a995c686b0cbb7b7adbab899cdabb3a8b7bcb4b0b291aba6b897adbeb1bc")

    /// Reads the key through a pipe, straight from the program's pages.
    private func load() throws -> (file: SecureBytes, key: ECPrivateKey) {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let written = write(ends[1], Self.pem.utf8Start, Self.pem.utf8CodeUnitCount)
        close(ends[1])
        try #require(written == Self.pem.utf8CodeUnitCount)
        let file = try SecureBytes(readingFrom: ends[0], maximumCount: 1000)
        return (file, try ECPrivateKey(pkcs8PEM: file))
    }

    private func occurrences() throws -> (text: Int, number: Int, reversedNumber: Int) {
        let places = try ProcessMemory().places(ofInverted: [Self.text, Self.number, Self.number.reversed()])
        return (places[0].count, places[1].count, places[2].count)
    }

    /// Loads, signs and searches while the key is alive.
    private func use() throws {
        let (file, key) = try load()
        let message = Array("message".utf8)
        for _ in 0..<10 { #expect(try key.publicKey.isValidSignature(key.signature(for: message), for: message)) }
        let alive = try occurrences()
        // The file once, in its own pages; the number as libcrypto holds it, least significant byte first, and nowhere
        // as it was read.
        #expect(alive.text == 1)
        #expect(alive.number == 0)
        #expect(alive.reversedNumber >= 1)
        withExtendedLifetime((file, key)) {}
    }

    @Test func nothingOfAKeyRemainsInMemoryAfterItsRelease() throws {
        try use()
        let after = try occurrences()
        #expect(after.text == 0)
        #expect(after.number == 0)
        #expect(after.reversedNumber == 0)
    }
}
