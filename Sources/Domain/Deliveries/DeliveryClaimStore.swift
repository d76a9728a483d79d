package import Foundation

/// What copies of the daemon know of each other's claims.
///
/// A claim's row is its registration: it says who sends a delivery and until when at the longest, by the store's own clock.
package protocol DeliveryClaimStore: Sendable {
    /// Whether several copies of the daemon may have the store at the same time.
    var isShared: Bool { get }

    /// Keeps what an attempt has found out, so that whoever takes answers back finds the delivery by it.
    ///
    /// - Parameters:
    ///   - findings: what was found out.
    ///   - delivery: the claimed one.
    ///   - worker: whose claim it is.
    ///   - claimedAt: when it was claimed, as the claim says.
    ///   - now: the time of day.
    /// - Returns: what ended by what is known now; nil when the claim is the worker's no more, and nothing was kept.
    /// - Throws: `storeUnavailable`.
    func keepFindings(
        _ findings: DeliveryFindings, of delivery: Delivery, claimedBy worker: String, at claimedAt: Date, now: Date
    ) async throws(ServiceError) -> EndedDeliveries?

    /// Queues again what a worker has claimed without learning of it, so that it cannot have sent anything of it.
    ///
    /// `known`: the deliveries that the worker knows to be its own.
    ///
    /// - Throws: `storeUnavailable`.
    func returnClaims(of worker: String, except known: Set<String>, at now: Date) async throws(ServiceError)

    /// Those of some deliveries that a worker need not go on with: their end was asked for, or they are its own no more.
    ///
    /// - Throws: `storeUnavailable`.
    func claimsToEnd(of worker: String, among ids: Set<String>) async throws(ServiceError) -> Set<String>

    /// What became of a delivery that somebody was sending; a claim whose lease is over is ended by this.
    ///
    /// - Returns: the delivery as it now is, nil where it is gone, and whether nobody sends it under that claim any more.
    /// - Throws: `storeUnavailable`.
    func settledClaim(
        app: String, id: String, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery?, isSettled: Bool)

    /// Those of some deliveries that have ended.
    ///
    /// - Throws: `storeUnavailable`.
    func endedDeliveries(among ids: Set<String>) async throws(ServiceError) -> [Delivery]
}

/// Awaits what other copies of the daemon are sending.
///
/// Whoever wants their end has written that into the claims' rows, and the transaction has told those who hold them. Each of them
/// acknowledges by recording what became of its attempt. One that is no more does not, and then the end of its lease does:
/// from there on nothing of it may go out, and what may have gone out before is told.
package struct ForeignClaims: Sendable {
    /// How often rows are looked at while nobody tells.
    static let poll = Duration.milliseconds(500)

    private let claims: any DeliveryClaimStore
    private let waiters: DeliveryWaiters
    private let clock: ServiceClock
    /// After so long nobody can have a claim any more that was there before, even if the store cannot be asked.
    private let longest: Duration

    /// `waiters`: told of what other copies have ended.
    package init(claims: any DeliveryClaimStore, waiters: DeliveryWaiters, clock: ServiceClock, policy: DispatchPolicy)
    {
        self.claims = claims
        self.waiters = waiters
        self.clock = clock
        longest = policy.lease
    }

    /// Waits until nobody else sends anything of some deliveries, whose end was asked for.
    ///
    /// - Returns: the deliveries as they then are; none where no other copy can send anything.
    @discardableResult
    func ends(of deliveries: [Delivery]) async -> [Delivery] {
        guard claims.isShared, !deliveries.isEmpty else { return [] }
        let end = clock.monotonicNow() + longest
        return await withTaskGroup(of: Delivery?.self) { group in
            for delivery in deliveries { group.addTask { await self.end(of: delivery, before: end) } }
            return await group.reduce(into: []) { ends, end in
                if let end { ends.append(end) }
            }
        }
    }

    private func end(of delivery: Delivery, before end: ContinuousClock.Instant) async -> Delivery? {
        while !Task.isCancelled {
            let watch = waiters.watch(delivery.id)
            defer { waiters.remove(watch) }
            do throws(ServiceError) {
                let (current, isSettled) = try await claims.settledClaim(
                    app: delivery.app, id: delivery.id, at: clock.now())
                if isSettled { return current }
            } catch {
                // A store that cannot be asked now may be asked later.
            }
            guard clock.monotonicNow() < end else { break }
            if let told = await waiters.outcome(watch, within: Self.poll, by: clock) { return told }
        }
        var unknown = delivery
        unknown.mayHaveReachedApple = true
        return unknown
    }
}
