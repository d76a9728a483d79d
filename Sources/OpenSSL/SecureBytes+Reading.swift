import Foundation

extension SecureBytes {
    /// Reads a file to its end without an intermediate buffer.
    ///
    /// - Parameters:
    ///   - path: The file; symbolic links are followed.
    ///   - maximumCount: The size beyond which the file is refused, in bytes.
    /// - Throws: ``SecureBytesError``
    package convenience init(contentsOfFile path: String, maximumCount: Int) throws(SecureBytesError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .openFailed(errno) }
        defer { close(descriptor) }
        try self.init(readingFrom: descriptor, maximumCount: maximumCount)
    }

    /// Reads an open file from its current position to its end without an intermediate buffer.
    ///
    /// - Parameters:
    ///   - descriptor: Stays open and the caller's.
    ///   - maximumCount: The size beyond which the file is refused, in bytes.
    /// - Throws: ``SecureBytesError``
    package convenience init(readingFrom descriptor: CInt, maximumCount: Int) throws(SecureBytesError) {
        // One byte of room beyond the limit tells a file of exactly that size from a longer one.
        let pages = try Self.mapPages(count: maximumCount + 1)
        let count: Int
        do throws(SecureBytesError) {
            count = try Self.readAll(of: descriptor, into: pages, maximumCount: maximumCount)
        } catch {
            Self.wipe(pages)
            Self.unmap(pages)
            throw error
        }
        self.init(pages: pages, count: count)
    }

    private static func readAll(
        of descriptor: CInt, into pages: UnsafeMutableRawBufferPointer, maximumCount: Int
    ) throws(SecureBytesError) -> Int {
        var count = 0
        while count <= maximumCount {
            let added = read(descriptor, pages.baseAddress?.advanced(by: count), maximumCount + 1 - count)
            if added == 0 { return count }
            if added > 0 {
                count += added
            } else if errno != EINTR {
                throw .readFailed(errno)
            }
        }
        throw .tooLarge(maximumCount: maximumCount)
    }
}
