package import Foundation

/// Puts right what was written by a clock that was wrong.
package protocol DeliveryTimeStore: Sendable {
    /// Makes queued deliveries due now whose next attempt lies behind a time.
    ///
    /// - Returns: how many, at most `limit`.
    /// - Throws: `storeUnavailable`.
    func hastenDeliveries(after latest: Date, at now: Date, limit: Int) async throws(ServiceError) -> Int

    /// Moves the times of deliveries that have not ended and answer no case: when they were created, and their deadline, which
    /// is `RefundCase.answerWindow` after that, or a caller's where that is sooner. Any queued one becomes due now.
    ///
    /// - Throws: `storeUnavailable`.
    func moveDeliveries(_ deliveries: [DeliveryTimeShift], at now: Date) async throws(ServiceError)
}

/// By how much the times of a delivery are wrong.
package struct DeliveryTimeShift: Sendable, Equatable {
    package let app: String
    package let id: String
    package let shift: Duration

    package init(app: String, id: String, by shift: Duration) {
        self.app = app
        self.id = id
        self.shift = shift
    }
}

/// The deliveries that were accepted while the time was in doubt, to be dated anew when it is known.
///
/// A process that ends meanwhile forgets them; what it wrote then counts as it stands.
struct DoubtfulDeliveries: Sendable {
    /// More than are accepted in the time that Apple takes to answer; those beyond keep their dates.
    static let capacity = 10_000

    private struct Key: Hashable {
        let app: String
        let id: String
    }

    /// What the time of day was, by the clock that dated each, when the monotonic clock began.
    private var origins: [Key: Date] = [:]

    /// Takes note of a delivery that was just accepted.
    mutating func note(_ delivery: Delivery, origin: Date) {
        guard delivery.attemptCount == 0, origins.count < Self.capacity else { return }
        let key = Key(app: delivery.app, id: delivery.id)
        if origins[key] == nil { origins[key] = origin }
    }

    /// Those whose dates are wrong by the clock as it is now.
    func shifts(origin: Date) -> [DeliveryTimeShift] {
        origins.compactMap { key, then in
            let seconds = origin.timeIntervalSince(then)
            return abs(seconds) > SteadyClock.tolerance
                ? DeliveryTimeShift(app: key.app, id: key.id, by: .seconds(seconds)) : nil
        }
    }
}
