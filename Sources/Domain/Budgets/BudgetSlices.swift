import Synchronization

/// The calls that this copy of the daemon may make out of budgets that it shares with the others.
///
/// A budget's slice is fetched before its first call, made larger before it is used up, and given back when it is not used. Every five
/// seconds the store is told what was used, and tells what all copies have used (0054).
package final class BudgetSlices: Sendable {
    /// How long a slice is the copy's without a word from it.
    static let lease = Duration.seconds(60)
    /// By how much earlier the copy itself takes it for lost.
    private static let margin = Duration.seconds(2)
    /// How often the store is told what was used.
    package static let interval = Duration.seconds(5)
    /// After nothing was left to give, nobody asks again for so long.
    private static let pause = Duration.seconds(1)
    /// The most budgets of one operation of the store, for which everybody else who writes waits.
    private static let maximumBatch = 16

    struct Name: Sendable, Hashable {
        let app: String
        let key: BudgetKey

        init(app: String, key: BudgetKey) {
            self.app = app
            self.key = key
        }

        init(_ call: BudgetedCall) { self.init(app: call.app, key: BudgetKey(call)) }
    }

    private struct Slice {
        /// By kind.
        var left: [CallPriority: Int] = [:]
        /// What there was after the last exchange, by kind.
        var size: [CallPriority: Int] = [:]
        /// Until when it is the copy's.
        var validUntil: BudgetTime?
        /// Until when nothing more is asked for, by kind.
        var emptyUntil: [CallPriority: BudgetTime] = [:]
        /// Calls that the store has not been told of.
        var used: [BudgetedCall: Int] = [:]
        /// Of which kinds somebody has asked for a call since the last exchange.
        var asked: Set<CallPriority> = []
        /// What goes back with the next exchange, as nobody had asked for it at the last look.
        var returning: Set<CallPriority> = []
        /// How many calls wait for the next exchange, by kind.
        var waiting: [CallPriority: Int] = [:]
        /// Apple's wish to wait that the store has not been told of.
        var blockedUntil: BudgetTime?

        func has(_ kind: CallPriority, at time: BudgetTime) -> Bool {
            left[kind, default: 0] > 0 && validUntil.map { time < $0 } ?? false
        }

        mutating func ask(for kind: CallPriority) {
            asked.insert(kind)
            returning.remove(kind)
        }

        /// At a look every few seconds, and not at any exchange: one may follow another before who has asked has called.
        mutating func giveBackWhatNobodyAsksFor() { returning = Set(left.keys).subtracting(asked) }

        var isIdle: Bool { left.values.allSatisfy { $0 == 0 } && used.isEmpty && asked.isEmpty && blockedUntil == nil }
    }

    private struct State {
        var slices: [Name: Slice] = [:]
        /// Budgets for the next exchange, and who waits for it.
        var pending: Set<Name> = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isExchanging = false
    }

    private let copy: String
    private let store: any SharedBudgetStore
    private let state = Mutex(State())

    /// `copy`: names this copy for as long as its process runs.
    package init(copy: String, store: any SharedBudgetStore) {
        self.copy = copy
        self.store = store
    }

    // MARK: Calls

    /// Takes a call out of a slice, if there is one.
    func take(_ call: BudgetedCall, isLimited: Bool, at time: BudgetTime) -> Bool {
        let kind = call.priority.sharedKind
        return state.withLock { state in
            var slice = state.slices[Name(call)] ?? Slice()
            slice.ask(for: kind)
            defer { state.slices[Name(call)] = slice }
            if isLimited {
                guard slice.has(kind, at: time) else { return false }
                slice.left[kind, default: 0] -= 1
            }
            slice.used[call, default: 0] += 1
            return true
        }
    }

    /// Takes back that a call was taken, which is not made.
    func giveBack(_ call: BudgetedCall, isLimited: Bool) {
        state.withLock { state in
            guard var slice = state.slices[Name(call)], let count = slice.used[call] else { return }
            slice.used[call] = count > 1 ? count - 1 : nil
            if isLimited { slice.left[call.priority.sharedKind, default: 0] += 1 }
            state.slices[Name(call)] = slice
        }
    }

    /// Takes note of Apple's wish to wait, to be told to the others.
    func note(blockedUntil: BudgetTime, _ name: Name) {
        state.withLock { state in
            state.slices[name, default: Slice()].blockedUntil = blockedUntil
        }
    }

    /// Fetches a slice for a call that has none, and has the next one fetched when little is left.
    func prepare(_ call: BudgetedCall, _ budgets: RateBudgets) async {
        guard budgets.policy.limits[call.environment]?[call.endpoint] != nil else { return }
        let (name, kind, time) = (Name(call), call.priority.sharedKind, budgets.clock.time)
        let (mustWait, isLow) = state.withLock { state -> (Bool, Bool) in
            var slice = state.slices[name] ?? Slice()
            slice.ask(for: kind)
            defer { state.slices[name] = slice }
            if let until = slice.emptyUntil[kind], time < until { return (false, false) }
            let isLow = slice.left[kind, default: 0] * 4 < slice.size[kind, default: 0]
            guard slice.has(kind, at: time) else {
                slice.waiting[kind, default: 0] += 1
                return (true, isLow)
            }
            return (false, isLow && !state.pending.contains(name))
        }
        if mustWait {
            await exchange([name], budgets)
        } else if isLow {
            Task { await exchange([name], budgets) }
        }
    }

    // MARK: Exchange

    /// Tells the store what was used, has slices made longer that are used, and gives back those that are not.
    ///
    /// `isLast`: gives everything back.
    package func tick(_ budgets: RateBudgets, isLast: Bool = false) async {
        let time = budgets.clock.time
        let names = state.withLock { state in
            if isLast { for name in state.slices.keys { state.slices[name]?.asked = [] } }
            let names = state.slices.filter { _, slice in
                let isOld = slice.validUntil.map { $0 < time.advanced(by: Self.lease / 2) } ?? false
                return isLast || !slice.used.isEmpty || slice.blockedUntil != nil || isOld
            }.map(\.key)
            for name in names { state.slices[name]?.giveBackWhatNobodyAsksFor() }
            return names
        }
        if !names.isEmpty { await exchange(names, budgets) }
    }

    /// Asks for an exchange and waits for it.
    ///
    /// There is one at a time, since the next one must know what this one gives; those that are asked for meanwhile go together.
    private func exchange(_ names: [Name], _ budgets: RateBudgets) async {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.pending.formUnion(names)
                state.waiting.append(continuation)
                defer { state.isExchanging = true }
                return !state.isExchanging
            }
            // Not this task's, which may be cancelled: others wait for it too.
            if isFirst { Task { await exchangePending(budgets) } }
        }
    }

    private func exchangePending(_ budgets: RateBudgets) async {
        while true {
            let (names, waiting) = state.withLock { state in
                defer { (state.pending, state.waiting) = ([], []) }
                if state.pending.isEmpty { state.isExchanging = false }
                return (Array(state.pending), state.waiting)
            }
            guard !names.isEmpty else { return }
            for start in stride(from: 0, to: names.count, by: Self.maximumBatch) {
                await exchangeNow(Array(names[start..<min(start + Self.maximumBatch, names.count)]), budgets)
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    private func exchangeNow(_ names: [Name], _ budgets: RateBudgets) async {
        let (policy, time) = (budgets.policy, budgets.clock.time)
        let requests = state.withLock { state in names.map { request(for: $0, policy, at: time, &state) } }
        do throws(ServiceError) {
            let answer = try await store.exchangeBudgets(
                BudgetExchange(copy: copy, lease: Self.lease, requests: requests))
            for (name, (request, standing)) in zip(names, zip(requests, answer.standings)) {
                budgets.take(standing, of: name, minute: answer.minute) {
                    self.settle(name, request, standing, sentAt: time)
                }
            }
        } catch {
            // What is told again may count twice, and never not at all.
            state.withLock { state in
                for (name, request) in zip(names, requests) {
                    state.slices[name, default: Slice()].used.merge(request.used) { $0 + $1 }
                    if let wait = request.blockedFor {
                        let (until, newer) = (time.advanced(by: wait), state.slices[name]?.blockedUntil)
                        state.slices[name]?.blockedUntil = newer.map { max($0, until) } ?? until
                    }
                    for kind in request.wanted {
                        state.slices[name]?.emptyUntil[kind] = time.advanced(by: Self.pause)
                    }
                }
            }
        }
    }

    private func request(
        for name: Name, _ policy: RatePolicy, at time: BudgetTime, _ state: inout State
    ) -> BudgetExchange.Request {
        var slice = state.slices[name] ?? Slice()
        let isValid = slice.validUntil.map { time < $0 } ?? false
        // What has lapsed is gone.
        slice.left = slice.left.filter { isValid && !slice.returning.contains($0.key) }
        var request = BudgetExchange.Request(
            app: name.app, endpoint: name.key.endpoint, environment: name.key.environment,
            limit: policy.limits[name.key.environment]?[name.key.endpoint], used: slice.used, kept: slice.left,
            wanted: slice.asked,
            blockedFor: slice.blockedUntil.map { .milliseconds(max(0, $0.milliseconds - time.milliseconds)) })
        request.waiting = slice.waiting
        slice.used = [:]
        slice.asked = []
        slice.returning = []
        slice.waiting = [:]
        slice.blockedUntil = nil
        state.slices[name] = slice
        return request
    }

    /// Takes what was given.
    ///
    /// - Returns: the calls that were made since the store was told.
    private func settle(
        _ name: Name, _ request: BudgetExchange.Request, _ standing: BudgetExchange.Standing, sentAt time: BudgetTime
    ) -> [BudgetedCall: Int] {
        state.withLock { state in
            guard var slice = state.slices[name] else { return [:] }
            for (kind, count) in standing.granted { slice.left[kind, default: 0] += count }
            slice.size = slice.left
            slice.validUntil = time.advanced(by: Self.lease - Self.margin)
            for kind in request.wanted {
                // Not where the copy had enough when it asked, and has used that up meanwhile.
                let isEmpty = slice.left[kind, default: 0] == 0 && request.kept[kind, default: 0] == 0
                slice.emptyUntil[kind] = isEmpty ? time.advanced(by: Self.pause) : nil
            }
            state.slices[name] = slice.isIdle ? nil : slice
            return slice.used
        }
    }
}
