/// What Apple says of something now that was signed some time ago.
package enum PresentState: Sendable {
    case transaction(Transaction)
    case subscription(Subscription)
    case appTransaction(AppTransaction)
}

/// Asks Apple how things stand with what was signed: once an Apple Account where the data names it.
struct PresentStateReader: Sendable {
    /// Calls to Apple at the same time.
    static let concurrentCalls = 8
    /// Pages of an account's history that are read before what is still missing is asked for one by one.
    static let maximumPages = 10

    let gateway: any AppStoreServerAPI

    /// One call to Apple, or one list.
    private enum Question: Hashable {
        case transaction(String)
        case history(account: String)
        case subscriptions(String)
        case appTransaction(String)
    }

    /// A question with what it is to tell about.
    private struct Group: Sendable {
        let question: Question
        let environment: AppStoreEnvironment
        var parts: [(index: Int, data: CheckedData)]
    }

    private typealias States = [Int: Result<PresentState, ServiceError>]

    /// The present state of each item by its position; none for an item that did not verify, and for a realtime request,
    /// which is a question and has no state.
    func states(
        of checked: [CheckedData?], _ call: UpstreamCall
    ) async throws(ServiceError) -> [Int: Result<PresentState, ServiceError>] {
        let results = try await FanOut.results(
            of: Self.groups(checked), atMost: Self.concurrentCalls, isPartialAllowed: true
        ) { group throws(ServiceError) in await self.ask(group, call.in(group.environment)) }
        return results.compactMap { try? $0.get() }.reduce(into: [:]) { all, states in
            all.merge(states) { first, _ in first }
        }
    }

    private static func groups(_ checked: [CheckedData?]) -> [Group] {
        var groups: [Group] = []
        for (index, data) in checked.enumerated() {
            guard let data, let question = question(data) else { continue }
            let known = groups.firstIndex { $0.question == question && $0.environment == data.environment }
            if let known {
                groups[known].parts.append((index, data))
            } else {
                groups.append(Group(question: question, environment: data.environment, parts: [(index, data)]))
            }
        }
        return groups
    }

    private static func question(_ data: CheckedData) -> Question? {
        switch data.kind {
        case .transaction:
            data.appTransactionID.map { .history(account: $0) }
                ?? data.transaction.map { .transaction($0.transactionID) }
        case .renewalInfo: (data.appTransactionID ?? data.originalTransactionID).map { .subscriptions($0) }
        case .appTransaction: data.appTransactionID.map { .appTransaction($0) }
        case .realtimeRequest, .notification: nil
        }
    }

    private func ask(_ group: Group, _ call: UpstreamCall) async -> States {
        do throws(ServiceError) {
            switch group.question {
            case .transaction: return await transactions(group, call)
            case .history(let account): return await history(of: account, group, call)
            case .subscriptions(let identifier):
                let statuses = try await gateway.subscriptionStatuses(identifier, statuses: [], call)
                let all = statuses.groups.flatMap(\.subscriptions)
                return Self.each(of: group) { data in
                    all.first { $0.originalTransactionID == data.originalTransactionID }
                        .map { .success(.subscription($0)) } ?? .failure(Self.unlisted)
                }
            case .appTransaction(let identifier):
                let found = try await gateway.appTransaction(identifier, call)
                return Self.each(of: group) { _ in .success(.appTransaction(found)) }
            }
        } catch {
            return Self.each(of: group) { _ in .failure(error) }
        }
    }

    private static func each(
        of group: Group, _ state: (CheckedData) -> Result<PresentState, ServiceError>
    ) -> States {
        Dictionary(uniqueKeysWithValues: group.parts.map { ($0.index, state($0.data)) })
    }

    /// Transactions one by one, each of them once.
    private func transactions(_ group: Group, _ call: UpstreamCall) async -> States {
        var known: [String: Result<PresentState, ServiceError>] = [:]
        var states: States = [:]
        for (index, data) in group.parts {
            guard let id = data.transaction?.transactionID else { continue }
            if known[id] == nil {
                do throws(ServiceError) {
                    known[id] = .success(.transaction(try await gateway.transaction(id, call)))
                } catch {
                    known[id] = .failure(error)
                }
            }
            states[index] = known[id]
        }
        return states
    }

    /// The transactions of one account out of its history, if there are several; what that does not tell, one by one.
    private func history(of account: String, _ group: Group, _ call: UpstreamCall) async -> States {
        let wanted = Set(group.parts.compactMap(\.data.transaction?.transactionID))
        guard wanted.count > 1 else { return await transactions(group, call) }
        var found: [String: Transaction] = [:]
        do throws(ServiceError) {
            var pages = gateway.history(account, filter: Self.filter(group), call).makeAsyncIterator()
            var count = 0
            while count < Self.maximumPages, found.count < wanted.count,
                let page = try await pages.next(isolation: #isolation)
            {
                for transaction in page.transactions where wanted.contains(transaction.transactionID) {
                    found[transaction.transactionID] = transaction
                }
                count += 1
            }
        } catch {
            // One by one each says for itself why it cannot be had; a budget that is used up answers without a call.
        }
        var states: States = [:]
        var rest = group
        rest.parts = []
        for (index, data) in group.parts {
            if let id = data.transaction?.transactionID, let transaction = found[id] {
                states[index] = .success(.transaction(transaction))
            } else {
                rest.parts.append((index, data))
            }
        }
        states.merge(await transactions(rest, call)) { first, _ in first }
        return states
    }

    /// Narrows a history to what is wanted: the time from the first purchase to the last.
    private static func filter(_ group: Group) -> HistoryFilter {
        let dates = group.parts.compactMap { $0.data.transaction?.purchaseDate.milliseconds }
        var filter = HistoryFilter()
        filter.startDate = dates.min()
        filter.endDate = dates.max().map { $0 + 1 }
        return filter
    }

    private static var unlisted: ServiceError {
        ServiceError(
            .appleAnswerInvalid, "Apple's answer about the Apple Account does not hold this subscription.",
            cause: "a subscription that Apple signed is not in its own list")
    }
}
