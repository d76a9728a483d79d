package import Foundation

/// What a process has in its memory, for tests that look for what should not be there.
///
/// Of a process without dumps only root, or who may trace it, sees the memory.
package struct ProcessMemory: Sendable {
    private static let chunkCount = 1 << 20
    /// Only what a sanitizer keeps about each byte of the memory lies in regions so large; searching one would take hours.
    private static let largestRegion: UInt = 1 << 40

    private let folder: String
    /// Whether the process is this one, which holds what is searched for while it searches.
    private let isOwn: Bool

    /// This process's own memory.
    ///
    /// Only pages that are written to and come from no file are searched: literals lie in the program's.
    package init() {
        folder = "/proc/self"
        isOwn = true
    }

    /// Another process's memory: all of it.
    package init(of processID: pid_t) {
        folder = "/proc/\(processID)"
        isOwn = false
    }

    /// Whether this process may look into others that have shut everybody out (`CAP_SYS_PTRACE`, capabilities(7)).
    package static var seesOthers: Bool {
        let line = try? ProcessMemory().text(of: "status").split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let capabilities = line.flatMap { $0.split(separator: "\t").last }.flatMap { UInt64($0, radix: 16) }
        return (capabilities ?? 0) & 1 << 19 != 0
    }

    /// Whether this process's memory is searched in seconds: a sanitizer keeps terabytes about it, and merges regions with them.
    package static var isSearchable: Bool {
        let regions = (try? ProcessMemory().regions()) ?? []
        return !regions.contains { $0.addresses.upperBound - $0.addresses.lowerBound >= largestRegion }
    }

    /// Where something stands.
    package struct Place: Sendable, CustomStringConvertible {
        package let address: UInt
        /// The region's permissions, and the file that it comes from, if any.
        package let region: String
        /// Whether the kernel keeps the region out of swap and out of dumps (`lo` and `dd` of `VmFlags`, proc(5)).
        package let isLocked: Bool
        package let isLeftOutOfDumps: Bool

        package var description: String { "0x\(String(address, radix: 16)) \(region)" }
    }

    /// Finds what is written in memory.
    ///
    /// - Parameter inverted: what to look for, with each byte inverted, so that this process's memory does not hold it on
    ///   the search's account.
    /// - Returns: the places of each, in the same order.
    /// - Throws: when the memory may not be read.
    package func places(ofInverted inverted: [[UInt8]]) throws -> [[Place]] {
        let memory = open("\(folder)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(memory) }
        let search = try Search(for: inverted, chunkCount: Self.chunkCount)
        var found = [[Place]](repeating: [], count: inverted.count)
        for region in try regions() {
            for part in isOwn ? region.addresses.without(search.addresses) : [region.addresses] {
                search.look(through: part, of: memory) { index, address in
                    found[index].append(
                        Place(
                            address: address, region: region.name, isLocked: region.flags.contains("lo"),
                            isLeftOutOfDumps: region.flags.contains("dd")))
                }
            }
        }
        return found
    }

    /// Finds what is written in another process's memory.
    package func places(of content: [UInt8]) throws -> [Place] { try places(ofInverted: [content.map { ~$0 }])[0] }

    private struct Region {
        let addresses: Range<UInt>
        let name: String
        var flags: Set<String> = []
    }

    private func regions() throws -> [Region] {
        var regions: [Region] = []
        for line in try text(of: "smaps").split(separator: "\n") {
            // Addresses, permissions, offset, device, inode, and the file if there is one; then a line for each property.
            let fields = line.split(separator: " ")
            if fields[0] == "VmFlags:", let last = regions.indices.last {
                regions[last].flags = Set(fields.dropFirst().map(String.init))
            }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, bounds[1] <= UInt(Int.max), fields.count > 4 else { continue }
            regions.append(
                Region(
                    addresses: bounds[0]..<bounds[1],
                    name: ([fields[1]] + fields.dropFirst(5)).joined(separator: " ")))
        }
        return regions.filter { region in
            guard isOwn else { return region.name.hasPrefix("r") }
            return region.name.hasPrefix("rw") && !region.name.contains("/")
        }
    }

    /// Foundation stops at the first short read, of which the kernel gives many here.
    private func text(of name: String) throws -> String {
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += chunk.prefix(count)
        }
    }
}

/// A search, with pages of its own for what it looks for and for the copies of everything that pass through it.
private final class Search {
    private let pages: UnsafeMutableRawPointer
    private let pageCount: Int
    private let chunkCount: Int
    private let contents: [Content]
    private let longest: Int

    /// Where nothing needs to be looked for.
    var addresses: Range<UInt> { UInt(bitPattern: pages)..<(UInt(bitPattern: pages) + UInt(pageCount)) }

    init(for inverted: [[UInt8]], chunkCount: Int) throws {
        pageCount = chunkCount + inverted.reduce(0) { $0 + $1.count }
        self.chunkCount = chunkCount
        longest = inverted.map(\.count).max() ?? 0
        guard let pages = mmap(nil, pageCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            pages != MAP_FAILED
        else { throw POSIXError(.ENOMEM) }
        self.pages = pages
        var next = pages + chunkCount
        contents = inverted.map { bytes in
            for (index, byte) in bytes.enumerated() { next.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self) }
            defer { next += bytes.count }
            return Content(bytes: UnsafeRawBufferPointer(start: next, count: bytes.count))
        }
    }

    deinit { munmap(pages, pageCount) }

    /// Something to look for.
    private struct Content {
        let bytes: UnsafeRawBufferPointer
        /// Where a byte stands in it that memory is not full of.
        private let anchor: Int

        init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
            anchor = bytes.firstIndex { $0 != 0 && $0 != 0xFF } ?? 0
        }

        /// Where it begins in some memory, before a limit.
        func positions(in memory: UnsafeRawBufferPointer, below limit: Int) -> [Int] {
            guard let start = memory.baseAddress, let wanted = bytes.baseAddress, memory.count >= bytes.count else {
                return []
            }
            var positions: [Int] = []
            var next = anchor
            let end = min(limit - 1, memory.count - bytes.count) + anchor + 1
            while next < end, let found = memchr(start + next, CInt(bytes[anchor]), end - next) {
                let place = UnsafeRawPointer(found) - start
                if memcmp(start + (place - anchor), wanted, bytes.count) == 0 { positions.append(place - anchor) }
                next = place + 1
            }
            return positions
        }
    }

    /// Tells of each place in a part of the memory, by what stands there.
    func look(through part: Range<UInt>, of memory: CInt, found: (_ index: Int, _ address: UInt) -> Void) {
        var offset = part.lowerBound
        while offset < part.upperBound {
            let wanted = min(chunkCount, Int(part.upperBound - offset))
            let count = pread(memory, pages, wanted, off_t(offset))
            // Regions come and go while other threads work, and some cannot be read.
            guard count > 0 else { return }
            let isLast = count < longest || offset + UInt(count) >= part.upperBound
            // Chunks overlap, lest something on the border be missed; what begins in the next is found there.
            let step = isLast ? count : count - longest + 1
            for (index, content) in contents.enumerated() {
                for position in content.positions(in: UnsafeRawBufferPointer(start: pages, count: count), below: step) {
                    found(index, offset + UInt(position))
                }
            }
            guard !isLast else { return }
            offset += UInt(step)
        }
    }
}

extension Range<UInt> {
    /// The parts of it outside another.
    fileprivate func without(_ other: Range<UInt>) -> [Range<UInt>] {
        [clamped(to: 0..<other.lowerBound), clamped(to: other.upperBound..<UInt.max)].filter { !$0.isEmpty }
    }
}
