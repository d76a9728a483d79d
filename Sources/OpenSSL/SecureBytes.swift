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

    static func wipe(_ pages: UnsafeMutableRawBufferPointer) { OPENSSL_cleanse(pages.baseAddress, pages.count) }

    static func unmap(_ pages: UnsafeMutableRawBufferPointer) { munmap(pages.baseAddress, pages.count) }
}

extension SecureBytes: CustomStringConvertible, CustomReflectable {
    /// The length, never the content.
    package var description: String { "\(count) secret bytes" }

    /// Nothing, so that `dump` and test reports show nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
