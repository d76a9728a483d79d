import Foundation
import OpenSSL
import Testing

/// Looks for a private key in the memory of the whole process.
///
/// The key was made for this test and is used nowhere else.
@Suite struct KeyMemoryTests {
    /// A literal lies in the pages of the program's file, which the search leaves out.
    private static let pem: StaticString = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyhSD7EcuMGasxAPU
        PNVj9yO4HHREGf2TLWHCKOMnTYGhRANCAARq13I56Jj/Mm8CQXn5baAPUAnQJN5X
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
        (
            try ProcessMemory.occurrences(ofInverted: Self.text),
            try ProcessMemory.occurrences(ofInverted: Self.number),
            try ProcessMemory.occurrences(ofInverted: Self.number.reversed())
        )
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

/// The memory that this process writes to, for tests that look for what should not be in it.
enum ProcessMemory {
    private static let chunkCount = 1 << 20

    /// Counts the places where a secret stands, in heap, stacks and other pages that come from no file.
    ///
    /// - Parameter inverted: The secret with each byte inverted, so that the search does not find what it searches
    ///   with.
    /// - Returns: Their number.
    /// - Throws: When the process may not read its own memory.
    static func occurrences(ofInverted inverted: [UInt8]) throws -> Int {
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/mem"))
        defer { try? memory.close() }
        let buffer = try Buffer(count: chunkCount)
        var total = 0
        for region in try regions().flatMap({ remove(buffer.addresses, from: $0) }) {
            var offset = region.lowerBound
            while offset < region.upperBound {
                let wanted = min(chunkCount, Int(region.upperBound - offset))
                let count = pread(memory.fileDescriptor, buffer.start, wanted, off_t(offset))
                // Regions come and go while other threads work, and some cannot be read.
                guard count > 0 else { break }
                total += occurrences(of: inverted, in: UnsafeRawBufferPointer(start: buffer.start, count: count))
                // Chunks overlap, lest a secret on the border be missed.
                guard count > inverted.count, offset + UInt(count) < region.upperBound else { break }
                offset += UInt(count - inverted.count + 1)
            }
        }
        return total
    }

    private static func occurrences(of inverted: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        var total = 0
        var rest = bytes
        while let start = rest.baseAddress, let found = memchr(start, CInt(~inverted[0]), rest.count) {
            let position = found - UnsafeMutableRawPointer(mutating: start)
            let candidate = rest[position...].prefix(inverted.count)
            if candidate.count == inverted.count, candidate.elementsEqual(inverted, by: { $0 == ~$1 }) { total += 1 }
            rest = UnsafeRawBufferPointer(rebasing: rest[(position + 1)...])
        }
        return total
    }

    /// Writable pages without those of the program itself, where its literals may lie.
    private static func regions() throws -> [Range<UInt>] {
        // Foundation stops at the first short read, of which the kernel gives many here.
        let file = try SecureBytes(contentsOfFile: "/proc/self/maps", maximumCount: 1 << 20)
        let maps = file.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return maps.split(separator: "\n").compactMap { line in
            // Addresses, permissions, offset, device, inode, and the file if there is one.
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, bounds[1] <= UInt(Int.max), fields.count > 4, fields[1].hasPrefix("rw"),
                fields.count == 5 || !fields[5].hasPrefix("/")
            else { return nil }
            return bounds[0]..<bounds[1]
        }
    }

    /// Cuts the search's own buffer out, in which copies of everything pass: the kernel shows pages that adjoin as one
    /// region.
    private static func remove(_ own: Range<UInt>, from region: Range<UInt>) -> [Range<UInt>] {
        let before = region.clamped(to: 0..<own.lowerBound)
        let after = region.clamped(to: own.upperBound..<UInt.max)
        return [before, after].filter { !$0.isEmpty }
    }

    /// Pages that are unmapped at the end.
    private final class Buffer {
        let start: UnsafeMutableRawPointer
        private let count: Int
        var addresses: Range<UInt> { UInt(bitPattern: start)..<(UInt(bitPattern: start) + UInt(count)) }

        init(count: Int) throws {
            guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                start != MAP_FAILED
            else { throw POSIXError(.ENOMEM) }
            self.start = start
            self.count = count
        }

        deinit { munmap(start, count) }
    }
}
