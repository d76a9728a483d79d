/// Shows deliveries to callers and ends them on request.
package struct DeliveryService: Sendable {
    private let store: any DeliveryStore
    private let transfers: InFlightDeliveries
    private let waiters: DeliveryWaiters
    private let elsewhere: ForeignClaims
    private let now: WallClock

    package init(store: any DeliveryStore, ending: DeliveryEnding, now: @escaping WallClock) {
        self.store = store
        transfers = ending.transfers
        waiters = ending.waiters
        elsewhere = ending.elsewhere
        self.now = now
    }

    /// A delivery, with its attempts.
    ///
    /// - Throws: `deliveryNotFound`, `storeUnavailable`.
    package func delivery(app: App, id: String) async throws(ServiceError) -> Delivery {
        guard let delivery = try await store.delivery(app: app.slug, id: id) else { throw Self.notFound(id) }
        return delivery
    }

    /// A page of an app's deliveries, newest first.
    ///
    /// - Throws: `storeUnavailable`.
    package func deliveries(app: App, _ query: DeliveryQuery) async throws(ServiceError) -> [Delivery] {
        try await store.deliveries(app: app.slug, query)
    }

    /// Ends a delivery on behalf of a caller; when this has returned, nothing of it is sent any more.
    ///
    /// - Returns: the delivery, in state `cancelled`; still `sending` only if the storage failed meanwhile, and then it
    ///   becomes `cancelled` as soon as it works again.
    /// - Throws: `deliveryNotFound`, `deliveryEnded` with the delivery when it had ended before or Apple was quicker,
    ///   `storeUnavailable`.
    package func cancel(app: App, id: String, caller: String) async throws(ServiceError) -> Delivery {
        let reason = DeliveryFailure(reason: .deliveryEnded, message: "Caller `\(caller)` cancelled it.")
        guard
            let (delivery, isChanged) = try await store.cancelDelivery(
                app: app.slug, id: id, because: reason, at: now())
        else { throw Self.notFound(id) }
        switch delivery.state {
        case .cancelled where isChanged:
            waiters.post(delivery)
            return delivery
        case .queued, .sending:
            var ended = await transfers.abort(ids: [id]).first
            if ended == nil { ended = await elsewhere.ends(of: [delivery]).first }
            let now = if let ended { ended } else { try await self.delivery(app: app, id: id) }
            guard now.state == .cancelled || !now.state.isFinal else { throw Self.ended(now) }
            return now
        case .accepted, .refused, .expired, .cancelled:
            throw Self.ended(delivery)
        }
    }

    private static func notFound(_ id: String) -> ServiceError {
        ServiceError(
            .deliveryNotFound, "The app has no delivery `\(id)`; it may have been removed after its retention.")
    }

    private static func ended(_ delivery: Delivery) -> ServiceError {
        ServiceError(.deliveryEnded, "The delivery is \(delivery.state.rawValue) already and cannot be cancelled.")
            .about(delivery)
    }
}
