package import Foundation

/// What a worker wants to claim.
package struct DeliveryClaim: Sendable {
    /// Where a look for due deliveries stands: behind this deadline and id.
    package struct Position: Sendable, Equatable {
        package let deadline: Date
        package let id: String

        package init(deadline: Date, id: String) {
            self.deadline = deadline
            self.id = id
        }
    }

    /// What was claimed, and where to go on when the bound of one look was reached; nil at the end.
    package struct Result: Sendable {
        package let deliveries: [Delivery]
        package let next: Position?
        /// How many app environments had to be looked at one by one, because others that rest stood in front.
        package let appEnvironments: Int

        package init(deliveries: [Delivery], next: Position?, appEnvironments: Int = 0) {
            self.deliveries = deliveries
            self.next = next
            self.appEnvironments = appEnvironments
        }
    }

    /// Names the process for as long as it runs.
    package let worker: String
    package let now: Date
    /// How long the claim holds, from the moment at which the store decides, by its own clock; attempts end before.
    package let lease: Duration
    package let limit: Int
    package let skipping: Set<AppEnvironment>
    package let after: Position?

    package init(
        worker: String, now: Date, lease: Duration, limit: Int, skipping: Set<AppEnvironment> = [],
        after: Position? = nil
    ) {
        self.worker = worker
        self.now = now
        self.lease = lease
        self.limit = limit
        self.skipping = skipping
        self.after = after
    }
}

/// App environments in which nothing would be accepted before a certain time.
struct PausedAppEnvironments: Sendable {
    /// The longest rest; whether nothing would be accepted after that either, the next attempt finds out.
    static let longest = Duration.seconds(3600)

    private var ends: [AppEnvironment: ContinuousClock.Instant] = [:]

    /// Lets an app environment rest for a while, or longer if it does already.
    mutating func pause(_ appEnvironment: AppEnvironment, for duration: Duration, from now: ContinuousClock.Instant) {
        let end = now + min(duration, Self.longest)
        ends[appEnvironment] = max(end, ends[appEnvironment] ?? end)
    }

    /// The app environments that rest at an instant.
    mutating func paused(at now: ContinuousClock.Instant) -> Set<AppEnvironment> {
        ends = ends.filter { now < $0.value }
        return Set(ends.keys)
    }

    /// Whether an app environment rests at an instant.
    func isPaused(_ appEnvironment: AppEnvironment, at now: ContinuousClock.Instant) -> Bool {
        ends[appEnvironment].map { now < $0 } ?? false
    }

    /// When the next app environment is ready again.
    var nextEnd: ContinuousClock.Instant? { ends.values.min() }
}
