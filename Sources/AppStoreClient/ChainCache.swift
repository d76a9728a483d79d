import Foundation
import JOSE
import OpenSSL
import Synchronization

/// Certificate chains that have been verified, so that only the first signature of a chain pays for it.
///
/// Key: the raw protected header, base64url as it came (it holds `x5c` and hardly ever differs between signatures of one
/// leaf). Value: the leaf's key and the time in which all three certificates are valid; the caller still checks the
/// signing date against it each time. Bound: `capacity` chains, the oldest go first. Lifetime: `lifetime` from insertion.
/// Only verified chains enter.
final class ChainCache: Sendable {
    /// A header that has been read, and the chain in it that has been verified.
    struct TrustedHeader: Sendable {
        let header: JOSEHeader
        let chain: VerifiedChain
    }

    private struct Entry {
        let trusted: TrustedHeader
        let expires: ContinuousClock.Instant
    }

    private struct State {
        var entries: [ArraySlice<UInt8>: Entry] = [:]
        /// Keys in the order of insertion, which is also that of expiry.
        var order: [ArraySlice<UInt8>] = []
    }

    private let capacity: Int
    private let lifetime: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(capacity: Int, lifetime: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.capacity = capacity
        self.lifetime = lifetime
        self.now = now
    }

    /// What is known of a header, if its chain has been verified and holds at the given date.
    func trusted(_ rawHeader: ArraySlice<UInt8>, at date: Date) -> TrustedHeader? {
        let instant = now()
        return state.withLock { state in
            guard let entry = state.entries[rawHeader], entry.expires > instant,
                entry.trusted.chain.validity.contains(date)
            else { return nil }
            return entry.trusted
        }
    }

    /// Keeps a header whose chain has been verified.
    func insert(_ trusted: TrustedHeader) {
        let expires = now() + lifetime
        let key = trusted.header.rawSegment[...]
        state.withLock { state in
            if state.entries.updateValue(Entry(trusted: trusted, expires: expires), forKey: key) != nil {
                state.order.removeAll { $0 == key }
            }
            state.order.append(key)
            if state.order.count > capacity {
                state.entries[state.order.removeFirst()] = nil
            }
        }
    }

    /// How many chains are held.
    var count: Int { state.withLock { $0.entries.count } }
}
