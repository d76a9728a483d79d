package import Foundation

/// Records what users agreed to, and makes withdrawals and erasures take effect on what is under way.
package struct ConsentService: Sendable {
    /// The longest `source`, in bytes of UTF-8.
    package static let maximumSourceBytes = 128

    /// What came of a record.
    package struct Outcome: Sendable, Equatable {
        package let record: ConsentRecord
        /// Deliveries that this ended, of which Apple has nothing.
        package let cancelled: [Delivery]
        /// Deliveries that this ended too late, or perhaps too late: Apple may have them, or has accepted them.
        package let mayHaveBeenSent: [Delivery]

        package init(record: ConsentRecord, cancelled: [Delivery] = [], mayHaveBeenSent: [Delivery] = []) {
            self.record = record
            self.cancelled = cancelled
            self.mayHaveBeenSent = mayHaveBeenSent
        }
    }

    private let store: any ConsentStore
    private let deliveries: any DeliveryStore
    private let ending: DeliveryEnding
    private let audit: any AuditTrail
    private let now: WallClock

    package init(
        store: any ConsentStore, deliveries: any DeliveryStore, ending: DeliveryEnding, audit: any AuditTrail,
        now: @escaping WallClock
    ) {
        self.store = store
        self.deliveries = deliveries
        self.ending = ending
        self.audit = audit
        self.now = now
    }

    /// Records that a user agreed, or withdrew; when a withdrawal has returned, nothing that it stands against is sent.
    ///
    /// - Parameters:
    ///   - app: whose user.
    ///   - user: who said it.
    ///   - isConsented: whether the user agrees.
    ///   - source: where it was said, in the caller's words.
    ///   - at: when it was said; nil for now.
    ///   - wordingVersion: which wording the user saw, as dotted numbers.
    ///   - locale: the language of the wording (RFC 5646).
    ///   - isByGuardian: whether a guardian said it for a child.
    ///   - caller: who records it.
    /// - Returns: the record, and what became of deliveries.
    /// - Throws: `invalidRequest`, `storeUnavailable`.
    package func record(
        app: App, user: UserID, isConsented: Bool, source: String, at: Date?, wordingVersion: String? = nil,
        locale: String? = nil, isByGuardian: Bool = false, caller: String
    ) async throws(ServiceError) -> Outcome {
        guard (1...Self.maximumSourceBytes).contains(source.utf8.count) else {
            throw .invalid([
                Violation(
                    field: "source", rule: "length",
                    message: "`source` has 1 to \(Self.maximumSourceBytes) bytes of UTF-8.")
            ])
        }
        let recordedAt = now()
        let record = ConsentRecord(
            app: app.slug, user: user, isConsented: isConsented, source: source, at: at ?? recordedAt,
            recordedAt: recordedAt, recordedBy: caller, wordingVersion: wordingVersion, locale: locale,
            isByGuardian: isByGuardian)
        // Before the change: an erasure that comes between would not forget a name that is made after it.
        let pseudonym = await audit.pseudonym(of: user, app: app.slug)
        let effect = try await store.recordConsent(record)
        await audit.settle(
            AuditAct(
                .consentRecorded, by: .caller(caller), app: app.slug, pseudonym: pseudonym,
                details: ["consented": String(isConsented), "guardian": String(isByGuardian)]))
        return isConsented ? Outcome(record: record) : await takeBack(after: record, effect)
    }

    /// Every record of a user, oldest first.
    ///
    /// - Throws: `storeUnavailable`.
    package func history(app: App, user: UserID) async throws(ServiceError) -> [ConsentRecord] {
        try await store.consentHistory(app: app.slug, user: user)
    }

    /// What guardians rescinded for the user's Apple Accounts and nobody has lifted since.
    ///
    /// - Throws: `storeUnavailable`.
    package func rescissions(app: App, user: UserID) async throws(ServiceError) -> [GuardianRescission] {
        try await store.rescissions(app: app.slug, user: user)
    }

    /// The name under which the audit speaks of a user; nil where it never has, or where an erasure has forgotten it.
    ///
    /// - Throws: `storeUnavailable`.
    package func auditPseudonym(app: App, user: UserID) async throws(ServiceError) -> String? {
        try await audit.existingPseudonym(of: user, app: app.slug)
    }

    /// Removes what is known of a user; when this has returned, nothing of the user is sent any more.
    ///
    /// - Returns: what was removed and what stays; its deliveries are as they were when the user was removed, but those
    ///   that were being sent are told as they ended.
    /// - Throws: `storeUnavailable`, also where the user is removed and what was removed may still stand in the write-ahead log.
    package func erase(app: App, user: UserID, by actor: Actor) async throws(ServiceError) -> ErasureReport {
        let pseudonym = await audit.pseudonym(of: user, app: app.slug)
        var report = try await store.eraseUser(app: app.slug, user: user, at: now())
        await audit.settle(AuditAct(.userErased, by: actor, app: app.slug, pseudonym: pseudonym))
        report.cancelled.forEach(ending.waiters.post)
        report.sending = await end(report.sending, of: user, app: app.slug)
        if let remains = report.remains { throw remains }
        return report
    }
}

// MARK: Taking back

extension ConsentService {
    /// Ends what a committed withdrawal stands against.
    private func takeBack(after record: ConsentRecord, _ effect: EndedDeliveries) async -> Outcome {
        effect.cancelled.forEach(ending.waiters.post)
        let ended = effect.cancelled + (await end(effect.sending, of: record.user, app: record.app))
        return Outcome(
            record: record,
            cancelled: ended.filter { !Self.mayHaveBeenSent($0) && [.cancelled, .sending].contains($0.state) },
            mayHaveBeenSent: ended.filter(Self.mayHaveBeenSent))
    }

    private static func mayHaveBeenSent(_ delivery: Delivery) -> Bool {
        [.accepted, .refused].contains(delivery.state) || delivery.mayHaveReachedApple
    }

    /// Ends attempts: those of the given deliveries, and others of a user that began meanwhile.
    ///
    /// Where the store cannot tell whose an attempt is, it is ended: an attempt that may be made is made again.
    ///
    /// - Returns: the given deliveries and others of the user that were ended, as they now are.
    private func end(_ deliveries: [Delivery], of user: UserID, app: String) async -> [Delivery] {
        let named = Set(deliveries.map(\.id))
        var unknown: Set<String> = []
        var ended = await ending.transfers.abort(app: app) { delivery in
            if named.contains(delivery.id) { return true }
            do {
                return try await isOwn(delivery, user)
            } catch {
                unknown.insert(delivery.id)
                return true
            }
        }
        // One that is queued again was ended without need, and of some nobody knows whose they are.
        ended.removeAll { !named.contains($0.id) && ($0.state == .queued || unknown.contains($0.id)) }
        var known = Set(ended.map(\.id))
        let elsewhere = await ending.elsewhere.ends(of: deliveries.filter { !known.contains($0.id) })
        ended += elsewhere
        known.formUnion(elsewhere.map(\.id))
        for delivery in deliveries where !known.contains(delivery.id) {
            // Its attempt ended by itself before anybody looked; if the store cannot tell how, its end has been asked for.
            ended.append((try? await self.deliveries.delivery(app: app, id: delivery.id)) ?? delivery)
        }
        return ended
    }

    /// Whether a delivery was accepted for a user, or is about a purchase that is the user's.
    private func isOwn(_ delivery: Delivery, _ user: UserID) async throws(ServiceError) -> Bool {
        if delivery.user?.isSameUser(as: user) ?? false { return true }
        return try await store.owner(of: ConsentSubject(delivery))?.isSameUser(as: user) ?? false
    }
}
