package import Foundation

/// Knows which copies of the daemon share a store, and lends what one of them at a time may have.
///
/// Everything here is measured by the store's own clock, which is the same to all copies: no copy believes another one's.
/// Where one process has the store nobody asks anything of this.
package protocol CopyStore: Sendable {
    /// Whether several copies of the daemon may have the store at the same time.
    var isShared: Bool { get }

    /// What other copies do from now on that this one acts upon, and what it does itself; ends with the task that listens.
    func news() -> AsyncStream<CopyNews>

    /// Says that a copy lives, for a while from now on.
    ///
    /// - Parameters:
    ///   - id: names the copy for as long as its process runs.
    ///   - masterKeyIDs: the ids of the master keys that it holds.
    ///   - lifetime: after how long without another word it is taken for dead.
    ///   - now: the time of day, which counts where the store is not shared.
    /// - Throws: `storeUnavailable`.
    func beat(
        copy id: String, holding masterKeyIDs: [String], for lifetime: Duration, at now: Date
    ) async throws(ServiceError)

    /// Says that a copy is leaving; its leases end with it.
    ///
    /// - Throws: `storeUnavailable`.
    func leave(copy id: String) async throws(ServiceError)

    /// The copies that live, oldest first.
    ///
    /// - Throws: `storeUnavailable`.
    func livingCopies(at now: Date) async throws(ServiceError) -> [Copy]

    /// Takes a lease, or takes it for longer: nobody else is given it before it ends.
    ///
    /// - Parameters:
    ///   - name: what it is about.
    ///   - holder: the copy that wants it.
    ///   - duration: for how long, from the moment at which the store decides.
    ///   - now: the time of day, which counts where the store is not shared.
    /// - Returns: whether the holder has it.
    /// - Throws: `storeUnavailable`; it may have been taken all the same.
    func takeLease(
        _ name: String, by holder: String, for duration: Duration, at now: Date
    ) async throws(ServiceError) -> Bool

    /// Gives a lease back before it ends, if it is the holder's.
    ///
    /// - Throws: `storeUnavailable`.
    func giveBackLease(_ name: String, by holder: String) async throws(ServiceError)
}

extension CopyStore {
    /// Says that a copy lives that holds no master key.
    package func beat(copy id: String, for lifetime: Duration, at now: Date) async throws(ServiceError) {
        try await beat(copy: id, holding: [], for: lifetime, at: now)
    }
}

/// One process of the daemon, of several on one store.
package struct Copy: Sendable, Equatable {
    /// How often a copy says that it lives.
    package static let beatInterval = Duration.seconds(2)
    /// After how long without a word it is taken for dead.
    package static let lifetime = Duration.seconds(10)

    /// Names it for as long as its process runs.
    package let id: String
    /// By the store's clock, like ``seenAt``.
    package let startedAt: Date
    /// When it last said that it lives.
    package let seenAt: Date

    package init(id: String, startedAt: Date, seenAt: Date) {
        self.id = id
        self.startedAt = startedAt
        self.seenAt = seenAt
    }
}
