import Foundation
import JOSE
import OpenSSL
import Synchronization

/// Certificate chains that have been verified, so that only the first signature of a chain pays for it.
///
/// Found by the raw protected header, base64url as it came (it holds `x5c` and hardly ever differs between signatures of
/// one leaf). Kept: the leaf's key and the time in which all three certificates are valid; the caller still checks the
/// signing date against it each time. Bound: `capacity` chains, those go first that have not been used for longest.
/// Lifetime: `lifetime` from insertion. Only verified chains enter.
///
/// A chain that has been used often gets a table of its key's multiples, made in the background.
final class ChainCache: Sendable {
    /// A signer whose chain has been verified.
    struct TrustedSigner: Sendable {
        let signer: KnownSigner
        /// The time in which the chain holds.
        let validity: Range<Date>
    }

    /// When chains get tables, which cost time once and memory for as long as the chain is kept.
    struct Precomputation: Sendable {
        /// After how many uses, and again after as many when there was no room; with a table from the start, the checks by
        /// then would have been shorter by about the time that it takes.
        var uses = 512
        /// How many chains have one at most.
        ///
        /// The App Store signs with one leaf, two while it changes them.
        var maximumTables = 4
        /// Runs work of tens of milliseconds that nobody waits for, never on the threads that serve requests.
        var inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global(qos: .utility).async(execute: $0)
        }
    }

    private struct Entry {
        var trusted: TrustedSigner
        var expires: ContinuousClock.Instant
        var uses = 0
        /// Whether the key has a table or will have one.
        var hasTable = false
    }

    private let capacity: Int
    private let lifetime: Duration
    private let precomputation: Precomputation
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The last used first.
    ///
    /// A header is mostly the first one's, and a few hundred comparisons that end at the first
    /// difference cost less than hashing three kilobytes.
    private let entries = Mutex<[Entry]>([])

    init(
        capacity: Int, lifetime: Duration, precomputation: Precomputation = Precomputation(),
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.capacity = capacity
        self.lifetime = lifetime
        self.precomputation = precomputation
        self.now = now
    }

    /// What is known of a header, if its chain has been verified and holds at the given date.
    func trusted(_ rawHeader: ArraySlice<UInt8>, at date: Date) -> TrustedSigner? {
        let instant = now()
        let (trusted, isTableDue) = entries.withLock { entries -> (TrustedSigner?, Bool) in
            guard let index = entries.firstIndex(where: { Self.matches($0, rawHeader) }),
                entries[index].expires > instant, entries[index].trusted.validity.contains(date)
            else { return (nil, false) }
            if index > 0 { entries.insert(entries.remove(at: index), at: 0) }
            entries[0].uses += 1
            let isUsedEnough = !entries[0].hasTable && entries[0].uses.isMultiple(of: precomputation.uses)
            return (entries[0].trusted, isUsedEnough && grantTable(among: &entries, at: instant))
        }
        if let trusted, isTableDue { precompute(trusted.signer.key) }
        return trusted
    }

    /// Keeps a signer whose chain has been verified.
    func insert(_ trusted: TrustedSigner) {
        let expires = now() + lifetime
        entries.withLock { entries in
            var entry = Entry(trusted: trusted, expires: expires)
            if let index = entries.firstIndex(where: { Self.matches($0, trusted.signer.header.rawSegment[...]) }) {
                let previous = entries.remove(at: index)
                // The same key again, whose table is as good as it was.
                if previous.trusted.signer.key == trusted.signer.key {
                    entry = previous
                    entry.trusted = TrustedSigner(signer: previous.trusted.signer, validity: trusted.validity)
                    entry.expires = expires
                }
            }
            entries.insert(entry, at: 0)
            if entries.count > capacity { entries.removeLast() }
        }
    }

    /// How many chains are held.
    var count: Int { entries.withLock { $0.count } }

    /// Gives the first entry a table if few enough have one, not counting those that are of no use any more.
    private func grantTable(among entries: inout [Entry], at instant: ContinuousClock.Instant) -> Bool {
        entries.removeAll { $0.expires <= instant }
        entries[0].hasTable = entries.count(where: \.hasTable) < precomputation.maximumTables
        return entries[0].hasTable
    }

    private func precompute(_ key: ECPublicKey) {
        precomputation.inBackground {
            // A key without a table verifies as it did before, so that nothing is lost when there is no memory for one.
            try? key.precomputeMultiples()
        }
    }

    private static func matches(_ entry: Entry, _ rawHeader: ArraySlice<UInt8>) -> Bool {
        let known = entry.trusted.signer.header.rawSegment
        return known.count == rawHeader.count
            && known.withUnsafeBytes { known in
                rawHeader.withUnsafeBytes { header in
                    guard let known = known.baseAddress, let header = header.baseAddress else { return true }
                    return memcmp(known, header, rawHeader.count) == 0
                }
            }
    }
}
