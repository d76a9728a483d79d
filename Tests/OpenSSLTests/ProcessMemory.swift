import Foundation

/// The writable memory of this process, for tests that look for what should not be in it.
enum ProcessMemory {
    private static let chunkCount = 1 << 20

    /// Counts the places where a secret stands.
    ///
    /// - Parameter inverted: The secret with each byte inverted, so that the search does not find what it searches with.
    /// - Throws: When the process may not read its own memory.
    static func occurrences(ofInverted inverted: [UInt8]) throws -> Int {
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/mem"))
        defer { try? memory.close() }
        // Pages of its own, so that the copies in it can be left out of the search.
        let buffer = try Buffer(count: chunkCount)
        var total = 0
        for region in try writableRegions() where !region.contains(UInt(bitPattern: buffer.start)) {
            var offset = region.lowerBound
            while offset < region.upperBound {
                let wanted = min(chunkCount, Int(region.upperBound - offset))
                let count = pread(memory.fileDescriptor, buffer.start, wanted, off_t(offset))
                // Regions come and go while other threads work, and some cannot be read.
                guard count > 0 else { break }
                let nn = occurrences(of: inverted, in: UnsafeRawBufferPointer(start: buffer.start, count: count)); total += nn; if nn > 0 { print("HIT", String(region.lowerBound, radix: 16), String(region.upperBound, radix:16), nn, String(UInt(bitPattern: buffer.start), radix:16), try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix(String(region.lowerBound, radix: 16)) }) }
                // Chunks overlap, lest a secret on the border be missed.
                guard count > inverted.count, offset + UInt(count) < region.upperBound else { break }
                offset += UInt(count - inverted.count)
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

    private static func writableRegions() throws -> [Range<UInt>] {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count > 1, fields[1].hasPrefix("rw"), bounds.count == 2, bounds[1] <= UInt(Int.max) else {
                return nil
            }
            return bounds[0]..<bounds[1]
        }
    }

    /// Pages that are unmapped at the end.
    private final class Buffer {
        let start: UnsafeMutableRawPointer
        private let count: Int

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
