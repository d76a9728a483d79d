/// Verifies what apps were given by StoreKit, links it to the user who sent it, and asks Apple how things stand now.
package struct SignedDataService: Sendable {
    /// The most items of one request.
    package static let maximumCount = 100

    /// What became of one item.
    package struct Entry: Sendable {
        package let kind: SignedDataKind
        package let result: Result<CheckedData, SignedDataFault>
        /// What became of the user's link to it; nil where no user was named, or nothing verified.
        package fileprivate(set) var link: LinkOutcome?
        /// What Apple says of it now; nil where that was not asked, or there is nothing to ask.
        package fileprivate(set) var present: Result<PresentState, ServiceError>?
    }

    /// What became of a user's link to something that Apple signed.
    package enum LinkOutcome: Sendable, Equatable {
        /// The user has it now, or had it already.
        case linked
        /// It is somebody else's, by a link or by the `appAccountToken` that Apple signed; that stays as it is.
        case conflict(owner: UserID)
        /// It proves nothing of a user: shared in a family, or of a kind that names no purchase of this app.
        case notProven
    }

    private let checker: any SignedDataChecker
    private let links: any LinkStore
    private let memory: any TransactionMemory
    private let states: PresentStateReader
    private let now: WallClock

    init(
        checker: any SignedDataChecker, links: any LinkStore, memory: any TransactionMemory,
        gateway: any AppStoreServerAPI, now: @escaping WallClock
    ) {
        self.checker = checker
        self.links = links
        self.memory = memory
        states = PresentStateReader(gateway: gateway)
        self.now = now
    }

    /// Verifies each item by itself; one that fails leaves the others alone.
    ///
    /// - Parameters:
    ///   - items: what an app was given.
    ///   - user: who is signed in there; what verifies is linked to that user.
    ///   - isConfirmed: whether Apple is asked for the present state of what verifies.
    ///   - call: for whom and until when.
    /// - Returns: one entry an item, in their order.
    /// - Throws: `verificationBusy`, `storeUnavailable`.
    package func verify(
        _ items: [SignedItem], user: UserID?, isConfirmed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> [Entry] {
        var entries: [Entry] = []
        // One after the other: a request must not fill the room for unknown chains, nor several threads.
        for item in items {
            await Task.yield()
            guard !Task.isCancelled, ContinuousClock.now < call.deadline else {
                throw ServiceError(.deadlineExceeded, "The request took too long; send fewer items in one request.")
            }
            entries.append(
                Entry(
                    kind: item.kind,
                    result: try await checker.check(
                        item.signed, item.kind, app: call.app, for: .known(.caller(call.caller)))))
        }
        let checked = entries.map { try? $0.result.get() }
        if let user {
            let outcomes = try await link(checked.compactMap(\.self), to: user, call)
            var next = outcomes.makeIterator()
            for index in entries.indices where checked[index] != nil { entries[index].link = next.next() }
        }
        if isConfirmed {
            let states = try await states.states(of: checked, call)
            for index in entries.indices { entries[index].present = states[index] }
        }
        return entries
    }
}

// MARK: Links

extension SignedDataService {
    /// Links what verified to a user, as what is learnt: links of others stay, and so does what a signed token says.
    private func link(
        _ checked: [CheckedData], to user: UserID, _ call: UpstreamCall
    ) async throws(ServiceError) -> [LinkOutcome] {
        let transactions = checked.compactMap(\.transaction)
        try await memory.remember(KnownIdentifier.all(of: transactions), app: call.app.slug)
        try await links.learn(from: transactions, app: call.app.slug, at: now())
        var outcomes: [LinkOutcome] = []
        for data in checked { outcomes.append(try await link(data, to: user, call)) }
        return outcomes
    }

    private func link(
        _ checked: CheckedData, to user: UserID, _ call: UpstreamCall
    ) async throws(ServiceError) -> LinkOutcome {
        guard let transaction = checked.transaction else {
            guard checked.kind == .appTransaction, let account = checked.appTransactionID else { return .notProven }
            return try await learn(LinkTarget(.appTransactionId, account), of: user, checked.environment, call)
        }
        guard !transaction.isFamilyShared else { return .notProven }
        let rule = try await OwnerRule.load(for: [transaction], app: call.app, asking: nil, from: links)
        // Two users may share an Apple Account: that it is linked to the other one says nothing of this purchase.
        var purchase = transaction.facts
        purchase.appTransactionID = nil
        if let owner = rule.owner(of: purchase), !owner.isSameUser(as: user) { return .conflict(owner: owner) }
        var conflict: UserID?
        for target in transaction.facts.linkTargets where target.kind != .appAccountToken {
            let outcome = try await learn(target, of: user, transaction.environment, call)
            if case .conflict(let owner) = outcome, target.kind != .appTransactionId { conflict = conflict ?? owner }
        }
        return conflict.map(LinkOutcome.conflict) ?? .linked
    }

    private func learn(
        _ target: LinkTarget, of user: UserID, _ environment: AppStoreEnvironment, _ call: UpstreamCall
    ) async throws(ServiceError) -> LinkOutcome {
        let decision = try await links.learn(
            Link(
                app: call.app.slug, user: user, target: target, environment: environment, source: .signedData,
                validFrom: nil, validUntil: nil, createdAt: now(), createdBy: call.caller))
        switch decision {
        case .keep, .replace, .insert, .transfer: return .linked
        case .conflict(let other): return .conflict(owner: other.user)
        }
    }
}

// MARK: From a request

extension SignedDataService {
    /// Reads the items of a request body; nil when a rule is broken.
    package static func items(_ fields: inout FieldReader) -> [SignedItem]? {
        let name = "signedData"
        let expected = "an array of 1 to \(maximumCount) objects with `kind` and `signed`"
        guard let elements = fields.array(name, expected: expected) else { return nil }
        guard (1...maximumCount).contains(elements.count) else {
            fields.note(name, "count", "`\(name)` holds \(elements.count) elements; it must be \(expected).")
            return nil
        }
        let items = elements.enumerated().map { index, element in
            fields.element(element, of: name, at: index, expected: "an object with `kind` and `signed`", read)
        }
        let valid = items.compactMap(\.self)
        return valid.count == items.count ? valid : nil
    }

    private static func read(_ fields: inout FieldReader) -> SignedItem? {
        let kinds = SignedDataKind.fromApps.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let kind = fields.value("kind", expected: "one of \(kinds)", rule: "enum") { text in
            SignedDataKind.fromApps.first { $0.rawValue == text }
        }
        let signed = fields.string("signed", expected: "a compact JWS") { !$0.isEmpty }
        guard let kind, let signed else { return nil }
        return SignedItem(kind: kind, signed: signed)
    }
}
