import Foundation
import OpenSSL

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
