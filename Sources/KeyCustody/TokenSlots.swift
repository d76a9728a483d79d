import Domain
import Foundation
import Synchronization

/// The cached tokens, each behind a lock of its own.
final class TokenSlots: Sendable {
    /// A token with the instants that bound its use.
    struct Held {
        let token: BearerToken
        /// SHA-256 of its value.
        let digest: [UInt8]
        let issuedAt: Date
        let mintedAt: ContinuousClock.Instant
    }

    /// The place of one key's token for one bundle id.
    struct Slot {
        var held: Held?
        /// Whether somebody asked since the last refresh; idle apps are not refreshed.
        var wasUsed = false
        /// How often somebody was given the token that is held, as far as the audit has not been told.
        var uses = 0
    }

    /// One slot behind its lock.
    final class LockedSlot: Sendable {
        private let slot = Mutex(Slot())

        func withLock<Result, Failure: Error>(
            _ body: (inout Slot) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try slot.withLock { slot throws(Failure) in try body(&slot) }
        }
    }

    private struct Key: Hashable {
        let keyID: String
        let bundleID: String
    }

    /// How often a token was used that no slot holds any more.
    struct Uses {
        let token: Held
        let app: String
        let count: Int
    }

    /// Uses that wait for the audit at most: it is told of each once it has room again.
    static let maximumUntold = 1000

    private let slots = Mutex<[Key: LockedSlot]>([:])
    private let untold = Mutex<[Uses]>([])
    private let refusals = Mutex<[String: ContinuousClock.Instant]>([:])
    private let generation = Atomic<UInt64>(0)

    func slot(_ keyID: String, _ bundleID: String) -> LockedSlot {
        let key = Key(keyID: keyID, bundleID: bundleID)
        return slots.withLock { slots in
            if let slot = slots[key] { return slot }
            let slot = LockedSlot()
            slots[key] = slot
            return slot
        }
    }

    /// Every slot with its bundle id.
    var all: [(bundleID: String, slot: LockedSlot)] {
        slots.withLock { slots in slots.map { ($0.key.bundleID, $0.value) } }
    }

    /// The slot of a token that somebody has asked for before.
    func existing(_ keyID: String, _ bundleID: String) -> LockedSlot? {
        slots.withLock { $0[Key(keyID: keyID, bundleID: bundleID)] }
    }

    /// Forgets slots by key id and bundle id.
    ///
    /// - Returns: those that are gone, with their bundle ids; who holds one at this moment still gets its token from it.
    func removeAll(
        where isGone: (_ keyID: String, _ bundleID: String) -> Bool
    ) -> [(bundleID: String, slot: LockedSlot)] {
        let known = slots.withLock { Array($0.keys) }
        let gone = known.filter { isGone($0.keyID, $0.bundleID) }
        return slots.withLock { slots in
            gone.compactMap { key in slots.removeValue(forKey: key).map { (key.bundleID, $0) } }
        }
    }

    /// Whether a refusal may force a mint: once an interval for each key, so that a key which Apple refuses for good does
    /// not turn every call into a signature.
    func mayMintAfterRefusal(keyID: String, at instant: ContinuousClock.Instant, interval: Duration) -> Bool {
        refusals.withLock { refusals in
            if let last = refusals[keyID], last.duration(to: instant) < interval { return false }
            refusals[keyID] = instant
            return true
        }
    }

    /// Whether a refusal would be allowed to force a mint now.
    func isMintDue(keyID: String, at instant: ContinuousClock.Instant, interval: Duration) -> Bool {
        refusals.withLock { refusals in refusals[keyID].map { $0.duration(to: instant) >= interval } ?? true }
    }

    /// Keeps uses that the audit had no room for; of more than there may be the oldest are forgotten.
    func keepUntold(_ uses: Uses) {
        untold.withLock { untold in
            if untold.count >= Self.maximumUntold { untold.removeFirst() }
            untold.append(uses)
        }
    }

    /// Gives back what was kept.
    func takeUntold() -> [Uses] {
        untold.withLock { untold in
            defer { untold = [] }
            return untold
        }
    }

    func nextGeneration() -> UInt64 {
        generation.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
