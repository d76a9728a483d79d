/// Shows refund cases to callers, and records that one is not answered.
package struct CaseService: Sendable {
    private let store: any CaseStore
    private let deliveries: any DeliveryStore
    private let ending: DeliveryEnding
    private let now: WallClock

    package init(
        store: any CaseStore, deliveries: any DeliveryStore, ending: DeliveryEnding, now: @escaping WallClock
    ) {
        self.store = store
        self.deliveries = deliveries
        self.ending = ending
        self.now = now
    }

    /// A case of an app.
    ///
    /// - Throws: `caseNotFound`, `storeUnavailable`.
    package func refundCase(app: App, id: String) async throws(ServiceError) -> RefundCase {
        guard let found = try await store.refundCase(app: app.slug, id: id) else { throw Self.notFound(id) }
        return found
    }

    /// A page of an app's cases, soonest deadline first.
    ///
    /// - Throws: `storeUnavailable`.
    package func cases(app: App, _ query: CaseQuery) async throws(ServiceError) -> [RefundCase] {
        try await store.refundCases(app: app.slug, query)
    }

    /// The deliveries that answer a case, newest first, at most a page of them.
    ///
    /// - Throws: `storeUnavailable`.
    package func deliveries(of refundCase: RefundCase) async throws(ServiceError) -> [Delivery] {
        var query = DeliveryQuery(limit: DeliveryQuery.maximumPageSize)
        query.caseID = refundCase.id
        return try await deliveries.deliveries(app: refundCase.app, query)
    }

    /// Records that a case is not answered; when this has returned, nothing of its deliveries is sent any more.
    ///
    /// - Parameters:
    ///   - app: whose case.
    ///   - id: the case's.
    ///   - note: the reason, in the caller's words.
    ///   - caller: who declines.
    /// - Returns: the case, in state `declined`.
    /// - Throws: `caseNotFound`; `caseClosed` with the case when it is answered, expired or decided; `storeUnavailable`.
    package func decline(
        app: App, id: String, note: String?, caller: String
    ) async throws(ServiceError) -> RefundCase {
        let decline = RefundCase.Decline(caller: caller, note: note, at: now())
        guard let (result, ended) = try await store.decline(app: app.slug, id: id, decline) else {
            throw Self.notFound(id)
        }
        await ending.carryOut(ended)
        switch result {
        case .closed(let refundCase):
            throw ServiceError(
                .caseClosed, "The case is \(refundCase.state.rawValue) already and cannot be declined.",
                cases: [refundCase])
        case .declined(let refundCase): return refundCase
        }
    }

    private static func notFound(_ id: String) -> ServiceError {
        ServiceError(.caseNotFound, "The app has no case `\(id)`; it may have been removed after its retention.")
    }
}
