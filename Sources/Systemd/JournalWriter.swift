import CSystemd
import Glibc
import Synchronization

/// Sends entries to the systemd journal.
final class JournalWriter: Sendable {
    private let lost = Atomic<Int>(0)

    /// How many entries the journal did not take.
    var lostEntries: Int { lost.load(ordering: .relaxed) }

    /// Sends one entry.
    ///
    /// Source: sd_journal_sendv(3)
    func write(_ entry: JournalEntry) {
        let result = entry.bytes.withUnsafeBytes { bytes in
            var start = 0
            let fields = entry.ends.map { end in
                defer { start = end }
                // The C type has no const; libsystemd only reads.
                let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return iovec(iov_base: base.map { $0 + start }, iov_len: end - start)
            }
            return sd_journal_sendv(fields, Int32(fields.count))
        }
        if result < 0 { lost.add(1, ordering: .relaxed) }
    }
}
