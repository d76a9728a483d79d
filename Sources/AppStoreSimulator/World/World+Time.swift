import AppStoreAPI

// What happens by itself when its time has come.

extension World {
    /// What is due.
    private enum Step {
        case subscription(String)
        case massExtension(Int)
    }

    /// What is due first comes first; of things due together, the order is the same each time.
    private struct Due: Comparable {
        let date: Int64
        let name: String
        let step: Step

        static func < (left: Due, right: Due) -> Bool { (left.date, left.name) < (right.date, right.name) }
        static func == (left: Due, right: Due) -> Bool { (left.date, left.name) == (right.date, right.name) }
    }

    /// When something happens by itself next, UNIX milliseconds.
    var nextDate: Int64? { next?.date }

    /// Does the one thing that is due first; false if nothing is due by now.
    mutating func takeStep(by now: Int64) -> Bool {
        guard let next, next.date <= now else { return false }
        let date = next.date
        switch next.step {
        case .subscription(let id):
            do throws(ControlError) {
                try proceed(id, at: date)
            } catch {
                // What cannot go on by itself is left to the control port.
                subscriptions[id]?.renewsByItself = false
                subscriptions[id]?.billingRetryEnd = nil
                subscriptions[id]?.gracePeriodEnd = nil
            }
        case .massExtension(let index):
            proceed(massExtension: index, at: date)
        }
        return true
    }

    private var next: Due? {
        let renewals = subscriptions.lazy.compactMap { id, subscription in
            dueDate(of: subscription, id).map { Due(date: $0, name: id, step: .subscription(id)) }
        }
        let extensions = massExtensions.indices.lazy.compactMap { index in
            massExtensions[index].nextStepDate.map { Due(date: $0, name: "", step: .massExtension(index)) }
        }
        return [renewals.min(), extensions.min()].compactMap { $0 }.min()
    }

    private func dueDate(of subscription: SimulatedSubscription, _ id: String) -> Int64? {
        guard let latest = latestPeriod(of: id)?.payload, latest.revocationDate == nil else { return nil }
        if let retryEnd = subscription.billingRetryEnd { return min(subscription.gracePeriodEnd ?? retryEnd, retryEnd) }
        guard subscription.renewsByItself, subscription.expirationIntent == nil else { return nil }
        return latest.expiresDate
    }

    /// Does what is due of a subscription.
    private mutating func proceed(_ id: String, at date: Int64) throws(ControlError) {
        guard let subscription = subscriptions[id] else { return }
        if subscription.billingRetryEnd != nil {
            guard subscription.gracePeriodEnd != nil else {
                _ = try expire(id, because: .billingError, now: date)
                return
            }
            subscriptions[id]?.gracePeriodEnd = nil
            emit(.gracePeriodExpired, about: runs[id]?.latestID, at: date)
        } else if !subscription.willRenew {
            _ = try expire(id, because: .customerCancelled, now: date)
        } else if subscription.billingFails {
            _ = try failBilling(id, gracePeriod: subscription.gracePeriodLength, now: date)
        } else {
            _ = try renew(id, purchaseDate: nil, now: date)
        }
    }
}
