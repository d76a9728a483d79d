import Logging
import Synchronization

/// Tells the operator of notifications that Apple signed for others: for each app at once, then at most once a minute, as
/// whoever has an app of his own can make Apple sign as many as he likes.
final class QuarantineAlarm: Sendable {
    private struct Silence {
        var until: ContinuousClock.Instant
        var suppressed = 0
    }

    static let interval = Duration.seconds(60)

    private let logger: Logger
    /// By app; as many as are configured.
    private let silences = Mutex<[String: Silence]>([:])

    init(logger: Logger) { self.logger = logger }

    /// Logs an alarm unless there was one just now; the next one tells how many were not logged.
    func raise(app: String, fault: String, at now: ContinuousClock.Instant) {
        let suppressed: Int? = silences.withLock { silences in
            if let silence = silences[app], now < silence.until {
                silences[app]?.suppressed += 1
                return nil
            }
            let suppressed = silences[app]?.suppressed ?? 0
            silences[app] = Silence(until: now + Self.interval)
            return suppressed
        }
        guard let suppressed else { return }
        var metadata: Logger.Metadata = ["app": "\(app)", "fault": "\(fault)"]
        if suppressed > 0 { metadata["othersSinceLastAlarm"] = "\(suppressed)" }
        logger.error(
            "ALARM: Apple signed a notification that does not fit the configuration; it is in quarantine, and Apple is asked to repeat it",
            metadata: metadata)
    }
}
