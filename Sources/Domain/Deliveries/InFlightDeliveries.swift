import Foundation
import Synchronization

/// What is being handed to Apple at this moment, so that whoever takes an answer back can end it and await its end.
///
/// No lock is held while anything is sent. Instead there is an order: an attempt is registered here (1), then asks
/// whether it may be sent (2), then is sent (3); whoever takes answers back commits that (4) and then looks here (5). If
/// (2) comes after (4), the question finds the commit and nothing is sent. If it comes before, then so did (1), and the look
/// finds the attempt, ends it and awaits its end. And because what a claim brings is registered before a look that follows
/// the claim goes on, a delivery that was claimed before (4) never escapes (5).
package final class InFlightDeliveries: Sendable {
    private struct State {
        var transfers: [ObjectIdentifier: InFlightDelivery] = [:]
        var claims = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How many attempts are under way.
    package var count: Int { state.withLock(\.transfers.count) }

    /// How many wait for a claim to end before they look.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// Ends the attempts of an app that are meant, and waits until nothing of them is sent any more.
    ///
    /// To be called when the reason is committed.
    ///
    /// - Parameters:
    ///   - app: whose attempts to look at.
    ///   - isMeant: asked about each, with what has been found out about it.
    /// - Returns: the deliveries as they then are.
    /// - Throws: what `isMeant` throws; some attempts may then have been ended already.
    package func abort<Failure: Error>(
        app: String, where isMeant: (Delivery) async throws(Failure) -> Bool
    ) async throws(Failure) -> [Delivery] {
        await claimsHaveEnded()
        var meant: [InFlightDelivery] = []
        for transfer in state.withLock({ Array($0.transfers.values) }) {
            let delivery = transfer.delivery
            guard delivery.app == app, try await isMeant(delivery) else { continue }
            transfer.abort()
            meant.append(transfer)
        }
        return await endings(of: meant)
    }

    /// Ends the attempts of these deliveries, and waits until nothing of them is sent any more.
    ///
    /// To be called when the reason is committed.
    ///
    /// - Returns: those that were under way, as they then are.
    package func abort(ids: Set<String>) async -> [Delivery] { await endings(of: await beginAborting(ids: ids)) }

    /// The deliveries whose attempts are under way.
    var ids: Set<String> { state.withLock { Set($0.transfers.values.map(\.delivery.id)) } }

    /// Lets the attempts of these deliveries end soon.
    ///
    /// To be called when the reason is committed.
    ///
    /// - Returns: those that are under way.
    @discardableResult
    func beginAborting(ids: Set<String>) async -> [InFlightDelivery] {
        guard !ids.isEmpty else { return [] }
        await claimsHaveEnded()
        let meant = state.withLock { state in state.transfers.values.filter { ids.contains($0.delivery.id) } }
        for transfer in meant { transfer.abort() }
        return meant
    }

    private func endings(of transfers: [InFlightDelivery]) async -> [Delivery] {
        var endings: [Delivery] = []
        for transfer in transfers { endings.append(await transfer.ending()) }
        return endings
    }

    /// Returns as soon as what was being claimed at this moment is registered.
    private func claimsHaveEnded() async {
        await withCheckedContinuation { continuation in
            let isClaiming = state.withLock { state in
                if state.claims > 0 { state.waiting.append(continuation) }
                return state.claims > 0
            }
            if !isClaiming { continuation.resume() }
        }
    }
}

// MARK: For those who send

extension InFlightDeliveries {
    /// Claims deliveries and registers an attempt for each.
    ///
    /// `end`: until when the claim lets attempts go on.
    ///
    /// - Returns: the attempts, and what the claim said.
    /// - Throws: what the claim throws.
    func registering(
        _ claim: DeliveryClaim, endingAttempts end: ContinuousClock.Instant,
        in store: any DeliveryStore
    ) async throws(ServiceError) -> (transfers: [InFlightDelivery], claim: DeliveryClaim.Result) {
        state.withLock { $0.claims += 1 }
        var transfers: [InFlightDelivery] = []
        defer { register(transfers) }
        let result = try await store.claimDeliveries(claim)
        transfers = result.deliveries.map { InFlightDelivery($0, claimedAt: claim.now, end: end) }
        return (transfers, result)
    }

    private func register(_ transfers: [InFlightDelivery]) {
        let waiting = state.withLock { state in
            for transfer in transfers { state.transfers[ObjectIdentifier(transfer)] = transfer }
            state.claims -= 1
            guard state.claims == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Says that nothing of an attempt is sent any more, and what became of its delivery.
    func end(_ transfer: InFlightDelivery, as delivery: Delivery) {
        state.withLock { _ = $0.transfers.removeValue(forKey: ObjectIdentifier(transfer)) }
        transfer.end(as: delivery)
    }
}

/// One delivery between its claim and the end of its attempt.
final class InFlightDelivery: Sendable {
    private struct State {
        var delivery: Delivery
        var hasFindings = false
        var isAborted = false
        var cancel: (@Sendable () -> Void)?
        var ending: Delivery?
        var waiting: [CheckedContinuation<Delivery, Never>] = []
    }

    /// When it was claimed, as the claim's row says.
    let claimedAt: Date
    /// Until when the claim lets the attempt go on: nobody else takes the delivery before.
    let end: ContinuousClock.Instant
    private let state: Mutex<State>

    init(_ delivery: Delivery, claimedAt: Date, end: ContinuousClock.Instant) {
        self.claimedAt = claimedAt
        self.end = end
        state = Mutex(State(delivery: delivery))
    }

    /// Whether something was found out that the store does not know.
    var hasFindings: Bool { state.withLock(\.hasFindings) }

    /// Takes note that the store knows what was found out.
    func findingsAreKept() { state.withLock { $0.hasFindings = false } }

    /// The delivery, with what has been found out since it was claimed.
    var delivery: Delivery { state.withLock(\.delivery) }

    /// Whether somebody has taken it back.
    var isAborted: Bool { state.withLock(\.isAborted) }

    /// Takes note of what Apple says of the purchase.
    func learn(_ purchase: PurchaseFacts) {
        state.withLock { state in
            state.hasFindings = true
            state.delivery.environment = purchase.environment
            state.delivery.purchase = purchase
        }
    }

    /// Lets the delivery tell whoever reads it of something.
    func warn(_ warning: String) {
        state.withLock { state in
            if !state.delivery.warnings.contains(warning) { state.delivery.warnings.append(warning) }
        }
    }

    /// Does the work of the attempt in a task of its own, which only `abort` cancels: a daemon that stops lets it end.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await work() }
        let isAborted = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isAborted
        }
        if isAborted { task.cancel() }
        return await task.value
    }

    /// Lets the attempt end soon; it does not begin to send any more.
    func abort() {
        let cancel = state.withLock { state in
            state.isAborted = true
            return state.cancel
        }
        cancel?()
    }

    /// Says that nothing is sent any more, and what became of the delivery.
    func end(as delivery: Delivery) {
        let waiting = state.withLock { state in
            state.ending = delivery
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: delivery) }
    }

    /// What became of the delivery, as soon as nothing is sent any more.
    func ending() async -> Delivery {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }
}
