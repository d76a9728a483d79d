/// Lanes in which nothing would be accepted before a certain time.
struct PausedLanes: Sendable {
    private var ends: [DeliveryLane: ContinuousClock.Instant] = [:]

    /// Lets a lane rest until an instant, or longer if it does already.
    mutating func pause(_ lane: DeliveryLane, until end: ContinuousClock.Instant) {
        ends[lane] = max(end, ends[lane] ?? end)
    }

    /// The lanes that rest at an instant.
    mutating func paused(at now: ContinuousClock.Instant) -> Set<DeliveryLane> {
        ends = ends.filter { now < $0.value }
        return Set(ends.keys)
    }

    /// Whether a lane rests at an instant.
    func isPaused(_ lane: DeliveryLane, at now: ContinuousClock.Instant) -> Bool {
        ends[lane].map { now < $0 } ?? false
    }

    /// When the next lane is ready again.
    var nextEnd: ContinuousClock.Instant? { ends.values.min() }
}
