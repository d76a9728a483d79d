import Synchronization
import Systemd

/// Knows when each part that the watchdog asks has last run, for the metrics.
final class HeartbeatTimes: Sendable {
    private let now: @Sendable () -> ContinuousClock.Instant
    private let latest = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameter now: what measures durations.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) {
        self.now = now
    }

    /// The heartbeat itself, noted each time it comes; until the first one its age counts from here.
    func noting(_ heartbeat: Heartbeat) -> Heartbeat {
        note(heartbeat.name)
        return Heartbeat(name: heartbeat.name) {
            await heartbeat.beat()
            self.note(heartbeat.name)
        }
    }

    /// How long ago each has last come, in seconds, by name.
    var ages: [String: Double] {
        let now = now()
        return latest.withLock { $0.mapValues { $0.duration(to: now) / .seconds(1) } }
    }

    private func note(_ name: String) {
        let now = now()
        latest.withLock { $0[name] = now }
    }
}
