import Foundation
import JOSE
import OpenSSL
import Synchronization

/// Certificate chains that have been verified, so that only the first signature of a chain pays for it.
///
/// Kept by what was verified, the leaf and its issuer: whatever else a header says makes no second entry. Kept: the leaf's key,
/// the time in which all three certificates are valid, and the header of the token that it last verified, by whose bytes a
/// chain is found without reading the header (it holds `x5c` and hardly ever differs between signatures of one leaf). The
/// caller still checks the signing date each time. Bound: `capacity` chains, those go first that have not been used for
/// longest. Lifetime: `lifetime` from the verification of the chain. Only a token that has verified as a whole puts its chain
/// here or counts as its use: anybody can send Apple's certificates with a signature that is none.
///
/// A chain that has been used often gets a table of its key's multiples, made in the background.
final class ChainCache: Sendable {
    /// A signer whose chain has been verified, as the header of one token names it.
    struct TrustedSigner: Sendable {
        /// The certificates in DER that were verified: the leaf's, then its issuer's.
        let certificates: [[UInt8]]
        let signer: KnownSigner
        /// The time in which the chain holds.
        let validity: Range<Date>
        /// When the chain was verified.
        let verifiedAt: ContinuousClock.Instant
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
        var uses = 0
        /// Whether the key has a table or will have one.
        var hasTable = false
    }

    private let capacity: Int
    private let lifetime: Duration
    private let precomputation: Precomputation
    /// A monotonic clock.
    let now: @Sendable () -> ContinuousClock.Instant
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

    /// Who a header stands for, if it is that of a token that has verified and its chain holds at the given date.
    func trusted(_ rawHeader: ArraySlice<UInt8>, at date: Date) -> TrustedSigner? {
        trusted(at: date) { Self.matches($0, rawHeader) }
    }

    /// Who a header stands for, if its chain has been verified and holds at the given date.
    ///
    /// - Throws: ``JOSEError/library(_:)`` only when libcrypto itself fails.
    func trusted(
        _ certificates: [[UInt8]], of header: JOSEHeader, at date: Date
    ) throws(JOSEError) -> TrustedSigner? {
        guard let known = trusted(at: date, where: { $0.trusted.certificates == certificates }) else { return nil }
        return TrustedSigner(
            certificates: known.certificates, signer: try KnownSigner(header: header, key: known.signer.key),
            validity: known.validity, verifiedAt: known.verifiedAt)
    }

    private func trusted(at date: Date, where isMeant: (Entry) -> Bool) -> TrustedSigner? {
        let instant = now()
        return entries.withLock { entries in
            guard let entry = entries.first(where: isMeant), !isExpired(entry, at: instant),
                entry.trusted.validity.contains(date)
            else { return nil }
            return entry.trusted
        }
    }

    /// Keeps a signer of whom a token has verified as a whole, and counts that use.
    func use(_ trusted: TrustedSigner) {
        let instant = now()
        let key = entries.withLock { entries -> ECPublicKey? in
            if let index = entries.firstIndex(where: { $0.trusted.certificates == trusted.certificates }) {
                if index > 0 { entries.insert(entries.remove(at: index), at: 0) }
                entries[0].trusted = Self.merged(entries[0].trusted, trusted)
            } else {
                entries.insert(Entry(trusted: trusted), at: 0)
                if entries.count > capacity { entries.removeLast() }
            }
            entries[0].uses += 1
            let isUsedEnough = !entries[0].hasTable && entries[0].uses.isMultiple(of: precomputation.uses)
            guard isUsedEnough, grantTable(among: &entries, at: instant) else { return nil }
            return entries[0].trusted.signer.key
        }
        if let key { precompute(key) }
    }

    /// A chain as it was used last, with the key that may have a table.
    private static func merged(_ known: TrustedSigner, _ latest: TrustedSigner) -> TrustedSigner {
        var signer = known.signer
        if latest.signer.header.rawSegment != signer.header.rawSegment,
            let other = try? KnownSigner(header: latest.signer.header, key: signer.key)
        {
            signer = other
        }
        return TrustedSigner(
            certificates: known.certificates, signer: signer, validity: latest.validity,
            verifiedAt: max(known.verifiedAt, latest.verifiedAt))
    }

    private func isExpired(_ entry: Entry, at instant: ContinuousClock.Instant) -> Bool {
        entry.trusted.verifiedAt + lifetime <= instant
    }

    /// How many chains are held.
    var count: Int { entries.withLock { $0.count } }

    /// Gives the first entry a table if few enough have one, not counting those that are of no use any more.
    private func grantTable(among entries: inout [Entry], at instant: ContinuousClock.Instant) -> Bool {
        entries = entries.prefix(1) + entries.dropFirst().filter { !isExpired($0, at: instant) }
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
