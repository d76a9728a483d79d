import OpenSSL
import Systemd

/// What keeps keys and tokens inside the process that holds them: for the whole program, whichever command it runs.
///
/// `config check` and `doctor` read keys, `callers issue-key` makes one, `callers hash` a token: their memory is worth as much
/// as the daemon's.
package struct ProcessProtection: Sendable {
    /// How much memory libcrypto gets for private numbers: room for some hundred keys, in bytes.
    private static let keyMemory = 1 << 16

    /// How much more is to be locked: a page for the master key, each secret of the installation, and each key on its way in,
    /// in bytes.
    private static let secretMemory = 1 << 17

    /// Whether the memory of keys and other secrets could be locked, so that it is never swapped out.
    let isKeyMemoryLocked: Bool

    /// Shuts core dumps and foreign eyes out, and gives libcrypto memory of its own for keys.
    ///
    /// The process has both or has not: they are asked for once, by whoever comes first, and cannot be taken back.
    ///
    /// - Returns: what the kernel granted.
    /// - Throws: what the kernel or libcrypto refused.
    @discardableResult
    package static func ensure() throws -> ProcessProtection { try outcome.get() }

    private static let outcome = Result {
        try ProcessHardening.disableCoreDumps()
        let isHeapLocked = try SecureHeap.enable(byteCount: keyMemory) == .complete
        return ProcessProtection(isKeyMemoryLocked: isHeapLocked && SecureBytes.canLock(byteCount: secretMemory))
    }
}
