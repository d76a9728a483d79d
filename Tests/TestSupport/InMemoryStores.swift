package import Domain
package import Foundation
import Synchronization

/// The link port in memory; the contract suite holds it to the same rules as the real store.
package actor InMemoryLinkStore: LinkStore {
    private var links: [Link] = []

    package init() {}

    package func links(app: String, user: UserID) async throws(ServiceError) -> [Link] {
        links.filter { $0.app == app && $0.user == user }
    }

    package func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link] {
        links.filter { $0.app == app && targets.contains($0.target) }
    }

    package func declare(_ statement: Link, transfer: Bool) async throws(ServiceError) -> LinkRules.Decision {
        apply(LinkRules.declare(statement, existing: existing(statement), transfer: transfer))
    }

    package func importLinks(_ statements: [Link]) async throws(ServiceError) -> [LinkRules.Decision] {
        statements.map { apply(LinkRules.importing($0, existing: existing($0))) }
    }

    package func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision {
        apply(LinkRules.learn(statement, existing: existing(statement)))
    }

    package func learn(
        from transactions: [Transaction], app: String, at now: Date
    ) async throws(ServiceError) {
        for transaction in transactions {
            let facts = transaction.facts
            let token = facts.appAccountToken.map { LinkTarget(.appAccountToken, $0) }
            let users = try await knownUsers(app: app, matching: Set([facts.appAccountToken].compactMap(\.self)))
            let rule = OwnerRule(links: links.filter { $0.app == app && $0.target == token }, users: users)
            guard token != nil, let user = rule.owner(of: facts) else { continue }
            for link in LinkRules.taught(by: facts, of: user, app: app, at: now) { _ = try await learn(link) }
        }
    }

    /// Tokens matter to cases and deliveries, which are not kept here.
    package func recordToken(
        _ appAccountToken: String, of originalTransactionID: String, app: String, environment: AppStoreEnvironment,
        at now: Date
    ) async throws(ServiceError) {}

    package func end(
        app: String, user: UserID, target: LinkTarget, at date: Date
    ) async throws(ServiceError) -> [Link] {
        let current = links.filter { $0.app == app && $0.user == user && $0.target == target && $0.isInForce }
        let ended = current.map { $0.ended(at: date) }
        for (old, new) in zip(current, ended) { replace(old, with: new) }
        return ended
    }

    package func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID> {
        let folded = Set(ids.map { $0.lowercased() })
        return Set(
            links.filter { $0.app == app && $0.isInForce && folded.contains($0.user.value.lowercased()) }.map(\.user))
    }

    private func existing(_ statement: Link) -> [Link] {
        links.filter { $0.app == statement.app && $0.target == statement.target }
    }

    private func apply(_ decision: LinkRules.Decision) -> LinkRules.Decision {
        links = decision.applied(to: links)
        return decision
    }

    private func replace(_ old: Link, with new: Link) {
        if let index = links.firstIndex(of: old) { links[index] = new }
    }
}

/// The transaction memory in memory.
package actor InMemoryTransactionMemory: TransactionMemory {
    private struct Key: Hashable {
        let app: String
        let identifier: String
        let environment: AppStoreEnvironment
    }

    private var accounts: [Key: String?] = [:]

    package init() {}

    package func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] {
        accounts.filter { $0.key.app == app && identifiers.contains($0.key.identifier) }.map { key, account in
            KnownIdentifier(identifier: key.identifier, environment: key.environment, appTransactionID: account)
        }
    }

    package func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {
        for entry in entries {
            let key = Key(app: app, identifier: entry.identifier, environment: entry.environment)
            accounts[key] = .some(entry.appTransactionID ?? accounts[key] ?? nil)
        }
    }
}

/// What Apple has answered, in memory: the writes one by one.
package final class InMemoryAppleAnswers: AppleAnswerStore {
    private struct State {
        var writes: [[AppleAnswer]] = []
        var erasures = 0
        var isBroken = false
    }

    private let state = Mutex(State())

    package init() {}

    package var writes: [[AppleAnswer]] { state.withLock(\.writes) }
    package var erasures: Int { state.withLock(\.erasures) }

    /// Counts an erasure.
    package func erase() { state.withLock { $0.erasures += 1 } }

    /// From now on nothing can be written.
    package func breakDown() { state.withLock { $0.isBroken = true } }

    package func keep(
        _ answers: [AppleAnswer], notedAfter count: Int, at now: Date
    ) async throws(ServiceError) {
        let isBroken = state.withLock { state in
            if !state.isBroken, state.erasures == count { state.writes.append(answers) }
            return state.isBroken
        }
        if isBroken { throw ServiceError(.storeUnavailable, "Full.") }
    }
}

/// What is remembered of releases, in memory; it lasts longer than a client that learnt it.
package actor InMemoryReleaseMemory: ReleaseMemory {
    private var released: Set<String> = []
    private var failure: ServiceError?
    /// How many times something was written.
    package private(set) var writes = 0

    package init() {}

    /// From now on every call fails so, or none does.
    package func fail(with failure: ServiceError?) { self.failure = failure }

    package func hasRelease(bundleID: String) async throws(ServiceError) -> Bool {
        if let failure { throw failure }
        return released.contains(bundleID)
    }

    package func rememberReleases(ofBundleIDs bundleIDs: Set<String>) async throws(ServiceError) {
        if let failure { throw failure }
        writes += 1
        released.formUnion(bundleIDs)
    }
}

/// What was used of the budgets, in memory.
package actor InMemoryBudgetStore: BudgetStore {
    private struct Key: Hashable {
        let call: BudgetedCall
        let minute: Int
    }

    private var calls: [Key: Int] = [:]
    private var blocks: [BudgetBlock] = []
    private var failure: ServiceError?

    package init() {}

    /// From now on every call fails so, or none does.
    package func fail(with failure: ServiceError?) { self.failure = failure }

    package func budgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) -> [BudgetRecord] {
        try failIfToldTo()
        return calls.filter { minutes.contains($0.key.minute) }.map { key, calls in
            BudgetRecord(call: key.call, minute: key.minute, calls: calls)
        }
    }

    package func saveBudgetRecords(_ records: [BudgetRecord]) async throws(ServiceError) {
        try failIfToldTo()
        for record in records { calls[Key(call: record.call, minute: record.minute)] = record.calls }
    }

    package func keepBudgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) {
        try failIfToldTo()
        calls = calls.filter { minutes.contains($0.key.minute) }
    }

    package func budgetBlocks(after date: Date) async throws(ServiceError) -> [BudgetBlock] {
        try failIfToldTo()
        return blocks.filter { $0.until > date }
    }

    package func replaceBudgetBlocks(_ blocks: [BudgetBlock]) async throws(ServiceError) {
        try failIfToldTo()
        self.blocks = blocks
    }

    private func failIfToldTo() throws(ServiceError) {
        if let failure { throw failure }
    }
}
