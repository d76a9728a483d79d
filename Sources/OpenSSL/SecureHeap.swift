import COpenSSL

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
