/// Makes what the store has ended take effect: those who wait are told, what is being sent is aborted, and what guardians have
/// rescinded is recorded.
///
/// The one place for it, whoever applied what ended a delivery: the processor of notifications, or who had to know what they
/// say before it decided on something else.
package struct DeliveryEnding: Sendable {
    let transfers: InFlightDeliveries
    let waiters: DeliveryWaiters
    /// What other copies of the daemon are sending.
    let elsewhere: ForeignClaims
    let audit: any AuditTrail

    package init(
        transfers: InFlightDeliveries, waiters: DeliveryWaiters, elsewhere: ForeignClaims, audit: any AuditTrail
    ) {
        self.transfers = transfers
        self.waiters = waiters
        self.elsewhere = elsewhere
        self.audit = audit
    }

    /// Ends what has ended, and waits until nothing of it is sent any more, by whichever copy.
    func carryOut(_ ended: EndedDeliveries) async {
        let here = Set(await carryOutHere(ended).map(\.id))
        await elsewhere.ends(of: ended.sending.filter { !here.contains($0.id) })
    }

    /// Ends what has ended, and waits until this copy sends nothing of it any more; the others are told, and not waited for.
    ///
    /// - Returns: those that this copy was sending, as they then are.
    @discardableResult
    func carryOutHere(_ ended: EndedDeliveries) async -> [Delivery] {
        ended.cancelled.forEach(waiters.post)
        let aborted = await transfers.abort(ids: ended.ids)
        await settle(ended.rescissions)
        return aborted
    }

    /// Lets end soon what has ended, but the attempt that asks: two attempts that waited for each other's end would wait for ever.
    func begin(_ ended: EndedDeliveries, from transfer: InFlightDelivery) async {
        ended.cancelled.forEach(waiters.post)
        await transfers.beginAborting(ids: ended.ids.subtracting([transfer.delivery.id]))
        await settle(ended.rescissions)
    }

    /// Whose Apple Account it is stands in no record: it is known by a keyed hash alone.
    private func settle(_ rescissions: [EndedDeliveries.Rescission]) async {
        for rescission in rescissions {
            await audit.settle(
                AuditAct(
                    .consentRecorded, by: .daemon, app: rescission.app,
                    details: [
                        "consented": "false", "guardian": "true", "notification": rescission.notificationUUID,
                        "environment": rescission.environment.rawValue,
                    ]))
        }
    }
}

extension EndedDeliveries {
    /// All of them: an attempt whose claim has run out, as while the machine slept, goes on though its row is queued.
    fileprivate var ids: Set<String> { Set((cancelled + sending).map(\.id)) }
}
