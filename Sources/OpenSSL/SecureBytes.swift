import COpenSSL
import Foundation

/// Secret bytes in memory of their own: wiped on release, and kept from core dumps and swap where the kernel allows it.
///
/// The pages belong to this object alone, because locking counts per page, not per use. There is no `==`, since it
/// would answer at the speed of the first difference, and no description of the content.
///
/// `@unchecked Sendable`: the content is written only before `init` returns and again in `deinit`, when nobody else can
/// look.
package final class SecureBytes: @unchecked Sendable {
    private let pages: UnsafeMutableRawBufferPointer
    /// Number of bytes.
    package let count: Int
    private let observeRelease: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Makes bytes that the closure writes.
    ///
    /// - Parameters:
    ///   - count: Number of bytes, zero before `fill` writes.
    ///   - observeRelease: Shown the wiped bytes just before their memory is given back, so that a test can see them.
    ///   - fill: Writes the content.
    /// - Throws: ``SecureBytesError/allocationFailed(_:)``
    package convenience init(
        count: Int, observeRelease: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(SecureBytesError) {
        let pages = try Self.mapPages(count: count)
        fill(UnsafeMutableRawBufferPointer(rebasing: pages[..<count]))
        self.init(pages: pages, count: count, observeRelease: observeRelease)
    }

    /// Takes over pages whose first `count` bytes are the content.
    init(
        pages: UnsafeMutableRawBufferPointer, count: Int,
        observeRelease: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) {
        self.pages = pages
        self.count = count
        self.observeRelease = observeRelease
    }

    deinit {
        Self.wipe(pages)
        observeRelease?(UnsafeRawBufferPointer(rebasing: pages[..<count]))
        Self.unmap(pages)
    }

    /// Lends the content; the pointer must not leave the closure.
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
    }

    // MARK: Pages

    /// Maps zeroed pages for at least `count` bytes.
    static func mapPages(count: Int) throws(SecureBytesError) -> UnsafeMutableRawBufferPointer {
        let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))
        let size = max(1, (count + pageSize - 1) / pageSize) * pageSize
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { throw .allocationFailed(errno) }
        // Both are refused under tight limits or old kernels; the wiping below holds all the same.
        _ = mlock(start, size)
        _ = madvise(start, size, MADV_DONTDUMP)
        return UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    /// Whether the kernel would lock so much more memory for secrets (`RLIMIT_MEMLOCK`, getrlimit(2)).
    ///
    /// `byteCount`: beyond what is locked already.
    package static func canLock(byteCount: Int) -> Bool {
        guard let pages = try? mapPages(count: byteCount) else { return false }
        defer { unmap(pages) }
        return mlock(pages.baseAddress, pages.count) == 0
    }

    static func wipe(_ pages: UnsafeMutableRawBufferPointer) { OPENSSL_cleanse(pages.baseAddress, pages.count) }

    static func unmap(_ pages: UnsafeMutableRawBufferPointer) { munmap(pages.baseAddress, pages.count) }

    // MARK: Reading

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

extension SecureBytes: CustomStringConvertible, CustomReflectable {
    /// The length, never the content.
    package var description: String { "\(count) secret bytes" }

    /// Nothing, so that `dump` and test reports show nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why secret bytes could not be taken into memory.
package enum SecureBytesError: Error, Sendable, Equatable {
    /// The kernel gave no memory (`mmap(2)`); the associated value is `errno`.
    case allocationFailed(CInt)
    /// The file could not be opened (`open(2)`); the associated value is `errno`.
    case openFailed(CInt)
    /// The file could not be read (`read(2)`); the associated value is `errno`.
    case readFailed(CInt)
    /// The file holds more than the caller allows; the associated value is that limit in bytes.
    case tooLarge(maximumCount: Int)
}

extension SecureBytesError: CustomStringConvertible {
    /// What failed, with the system's words for it.
    package var description: String {
        switch self {
        case .allocationFailed(let code): "no memory for a secret: \(String(cString: strerror(code)))"
        case .openFailed(let code): "cannot open: \(String(cString: strerror(code)))"
        case .readFailed(let code): "cannot read: \(String(cString: strerror(code)))"
        case .tooLarge(let maximumCount): "larger than \(maximumCount) bytes"
        }
    }
}

/// The part of memory in which libcrypto itself keeps private numbers.
package enum SecureHeap {
    /// What the kernel granted.
    package enum Protection: Sendable, Equatable {
        /// The memory is locked and left out of core dumps.
        case complete
        /// The memory is in use but could not be locked or fenced, mostly for a low `RLIMIT_MEMLOCK`.
        case partial
    }

    /// Gives libcrypto a locked, fenced arena, once per process and before the first key is loaded.
    ///
    /// Without it private numbers live on the ordinary heap, wiped on release all the same.
    /// - Parameter byteCount: Size of the arena, a power of two; a P-256 key takes some 100 bytes of it.
    /// - Returns: What the kernel granted.
    /// - Throws: ``OpenSSLError`` if there is an arena already or no memory for one.
    /// - Note: Source: OpenSSL manual, `CRYPTO_secure_malloc_init(3)`.
    @discardableResult
    package static func enable(byteCount: Int) throws(OpenSSLError) -> Protection {
        switch CRYPTO_secure_malloc_init(byteCount, 16) {
        case 1: return .complete
        case 2: return .partial
        default: throw OpenSSLError(draining: "CRYPTO_secure_malloc_init")
        }
    }
}

/// Random bytes from libcrypto's generator, which the kernel seeds.
package enum SecureRandom {
    /// Draws bytes fit for identifiers, nonces and secrets.
    ///
    /// - Parameter count: Number of bytes, at most `Int32.max`.
    /// - Returns: The bytes.
    /// - Throws: ``OpenSSLError`` if the generator has no entropy; its bytes must not be replaced by others.
    package static func bytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        guard let size = CInt(exactly: count) else { throw OpenSSLError(draining: "RAND_bytes") }
        var bytes = [UInt8](repeating: 0, count: count)
        try check(RAND_bytes(&bytes, size), "RAND_bytes")
        return bytes
    }
}
