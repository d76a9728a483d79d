import AppStoreAPI

extension SimulatorState {
    /// All notifications, the oldest first.
    package var notifications: [SimulatedNotification] { withContent { $0.outbox.notifications } }

    /// Sets where an app wants its notifications; nil for nowhere.
    ///
    /// - Throws: ``ControlError/notFound(_:)`` for an app that is not registered.
    package func setNotificationAddress(
        _ address: NotificationAddress?, of bundleID: String, in environment: SimulatedEnvironment
    ) throws(ControlError) {
        try withContent { content throws(ControlError) in
            _ = try content.world.app(bundleID)
            content.outbox.setAddress(address, of: bundleID, in: environment)
        }
    }

    /// How long a receiver may take before an attempt has failed; real time.
    package var notificationTimeout: Duration {
        get { withContent { $0.outbox.timeout } }
        set { withContent { $0.outbox.timeout = newValue } }
    }

    /// Sends a notification.
    ///
    /// - Returns: The notification; nil if the app has no address in that environment.
    /// - Throws: ``ControlError/notFound(_:)`` for an app that is not registered.
    @discardableResult
    package func notify(_ draft: NotificationDraft) throws(ControlError) -> SimulatedNotification? {
        let now = milliseconds
        let notification = try withContent { content throws(ControlError) in
            _ = try content.world.app(draft.bundleID)
            return content.post(draft, now: now)
        }
        agendaChanged()
        return notification
    }

    /// Does what is due by now, and gives out the attempts that are to be made.
    func takeDue(now: Int64) -> Agenda {
        withContent { content in
            content.passTime(to: now)
            content.workOnRefunds(now: now)
            let deliveries = content.outbox.takeDue(now: now)
            let worldDate = content.world.nextDate
            // More than was done in one pass: to be looked for again at once.
            if worldDate.map({ $0 <= now }) ?? false { agendaChanged() }
            let dates = [content.outbox.nextAttemptDate, content.refundRequests.nextDate, worldDate]
            return Agenda(
                deliveries: deliveries, tests: content.messaging.takeTests(), nextDate: dates.compactMap { $0 }.min())
        }
    }

    /// What is to be done now.
    struct Agenda: Sendable {
        let deliveries: [NotificationOutbox.Delivery]
        let tests: [PerformanceTest]
        /// The earliest time at which something else is due, UNIX milliseconds.
        let nextDate: Int64?
    }
}

extension SimulatorState.Content {
    /// Puts a notification into the outbox; nil if its app has no address.
    @discardableResult
    mutating func post(_ draft: NotificationDraft, now: Int64) -> SimulatedNotification? {
        world.apps[draft.bundleID].flatMap { outbox.post(draft, from: $0, now: now) }
    }

    /// A notification about a transaction as it is now, with its subscription if it is of one.
    func draft(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, about record: TransactionRecord,
        at now: Int64, reason: ConsumptionRequestReason? = nil
    ) -> NotificationDraft {
        var subject = subject(of: record, at: now)
        subject.consumptionRequestReason = reason
        var draft = NotificationDraft(
            type, subtype, of: record.customer.bundleID, in: record.environment, about: .data(subject))
        draft.customer = record.customer
        return draft
    }

    /// What notifications about a transaction tell.
    func subject(of record: TransactionRecord, at now: Int64) -> NotifiedPurchase {
        NotifiedPurchase(
            transaction: record.payload, renewalInfo: renewalInfo(of: record, at: now),
            status: world.status(of: record, at: now))
    }

    /// What becomes of a transaction's subscription, if it is of one.
    func renewalInfo(of record: TransactionRecord, at now: Int64) -> RenewalInfoPayload? {
        guard var renewalInfo = world.renewalInfo(of: record, at: now) else { return nil }
        renewalInfo.advancedCommerceInfo = advancedCommerce.renewals[record.payload.originalTransactionId ?? ""]
        return renewalInfo
    }
}
