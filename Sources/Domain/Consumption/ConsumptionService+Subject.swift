package import Foundation

extension ConsumptionService {
    /// What an answer is about, as far as it is known.
    struct Subject: Sendable {
        let transactionID: String
        var environment: AppStoreEnvironment?
        /// The named one, or whom the case belongs to.
        var user: UserID?
        var refundCase: RefundCase?
        var purchase: PurchaseFacts?
    }

    /// Finds the case and the purchase that a request is about, and checks whose it is.
    ///
    /// - Throws: as `send` says.
    func subject(
        of request: Request, _ call: UpstreamCall, until waitEnd: ContinuousClock.Instant
    ) async throws(ServiceError) -> Subject {
        var subject = try await subject(of: request.target, request.environment, call.app)
        if subject.purchase == nil {
            subject.purchase = try await lookUp(subject, call, until: waitEnd)
            subject.environment = subject.purchase?.environment ?? subject.environment
        }
        if subject.environment == nil, call.app.environments.count == 1 {
            subject.environment = call.app.environments.first
        }
        if case .user(let user, _) = request.target, let purchase = subject.purchase {
            let rule = try await OwnerRule.load(for: [purchase], app: call.app, asking: user, from: links)
            if let owner = rule.owner(of: purchase), !owner.isSameUser(as: user) {
                throw .ownedByAnotherUser(purchase.transactionID, owner: owner, not: user)
            }
        }
        return subject
    }

    /// The rules of the purchase and of the time that there is, which an answer breaks that cannot be sent anyway: as far as
    /// the purchase is known here, by its case, without a question to Apple.
    ///
    /// `target`: nil when what the answer is about cannot be read either.
    ///
    /// - Returns: none of the purchase where that is not known, or cannot be found out.
    package func violations(
        of outline: ConsumptionRules.Outline, until deadline: Date?, about target: Target?,
        in environment: AppStoreEnvironment?, _ app: App
    ) async -> [Violation] {
        var found: Subject?
        if let target { found = try? await subject(of: target, environment, app) }
        let now = clock.now()
        let latest = latestDeadline(of: found?.refundCase, at: now)
        return violations(ofDeadline: deadline, latest: latest, at: now)
            + (found?.purchase.map { ConsumptionRules.violations(of: outline, against: $0) } ?? [])
    }

    /// What is known here of what a request is about.
    private func subject(
        of target: Target, _ environment: AppStoreEnvironment?, _ app: App
    ) async throws(ServiceError) -> Subject {
        switch target {
        case .user(let user, transactionID: nil):
            return Subject(try await openCase(of: user, environment, app), user: user)
        case .user(let user, .some(let transactionID)):
            return try await subject(of: transactionID, user: user, environment, app)
        case .transaction(let transactionID):
            return try await subject(of: transactionID, user: nil, environment, app)
        case .refundCase(let id):
            guard let refundCase = try await cases.refundCase(app: app.slug, id: id) else {
                throw ServiceError(.caseNotFound, "The app has no case `\(id)`.")
            }
            guard environment == nil || environment == refundCase.environment else {
                throw .invalid([
                    Violation(
                        field: "environment", rule: "contradiction",
                        message: "The case is in \(refundCase.environment.rawValue); leave `environment` out.")
                ])
            }
            return Subject(refundCase, user: refundCase.owner)
        }
    }

    /// The latest case of a transaction, or none: Apple takes answers to requests of which we have not heard.
    private func subject(
        of transactionID: String, user: UserID?, _ environment: AppStoreEnvironment?, _ app: App
    ) async throws(ServiceError) -> Subject {
        let latest = try await cases.latestCase(
            app: app.slug, transactionID: transactionID, environment: environment)
        guard let latest else {
            return Subject(transactionID: transactionID, environment: environment, user: user)
        }
        return Subject(latest, user: user ?? latest.owner)
    }

    /// The one case of a user that waits for an answer.
    private func openCase(
        of user: UserID, _ environment: AppStoreEnvironment?, _ app: App
    ) async throws(ServiceError) -> RefundCase {
        var query = CaseQuery(limit: CaseQuery.maximumPageSize)
        query.states = [.open]
        query.owner = user
        query.environment = environment
        var open = try await cases.refundCases(app: app.slug, query).filter { !clock.hasPassed($0.deadline) }
        if open.count > 1 { open = try await own(open, of: user, app) }
        guard let refundCase = open.first else {
            throw ServiceError(.noOpenCase, "No open case is known to belong to user `\(user)`.")
        }
        guard open.count == 1 else {
            throw ServiceError(
                .severalOpenCases, "User `\(user)` has \(open.count) open cases; name the `transactionId` of one.",
                cases: open)
        }
        return refundCase
    }

    /// Those of some cases that are a user's by the links of this moment: lists of cases follow settings of an app in batches.
    func own(_ found: [RefundCase], of user: UserID, _ app: App) async throws(ServiceError) -> [RefundCase] {
        guard !found.isEmpty else { return [] }
        let rule = try await OwnerRule.load(for: found.map(\.purchase), app: app, asking: user, from: links)
        return found.filter { rule.owner(of: $0.purchase)?.isSameUser(as: user) ?? false }
    }

    /// What Apple says of a purchase, if the caller waits and Apple answers in time; else the answer goes on without, and
    /// Apple decides what the rules cannot.
    ///
    /// - Throws: `appleRejected` when Apple knows of no such transaction, `environmentNotAllowed`.
    private func lookUp(
        _ subject: Subject, _ call: UpstreamCall, until waitEnd: ContinuousClock.Instant
    ) async throws(ServiceError) -> PurchaseFacts? {
        let now = clock.monotonicNow()
        let end = min(waitEnd, now + longestLookUp)
        guard now < end else { return nil }
        let lookUp = UpstreamCall(
            app: call.app, environment: subject.environment, deadline: end, caller: call.caller,
            priority: call.priority)
        do throws(ServiceError) {
            let transaction = try await gateway.transaction(subject.transactionID, lookUp)
            try await links.learn(from: [transaction], app: call.app.slug, at: clock.now())
            return transaction.facts
        } catch {
            let isFinal = error.reason == .appleRejected && error.retryAfter == nil
            guard isFinal || error.reason == .environmentNotAllowed else { return nil }
            throw error
        }
    }
}

extension ConsumptionService.Subject {
    /// What a case is about.
    fileprivate init(_ refundCase: RefundCase, user: UserID?) {
        self.init(
            transactionID: refundCase.transactionID, environment: refundCase.environment, user: user,
            refundCase: refundCase, purchase: refundCase.purchase)
    }
}
