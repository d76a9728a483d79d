import CoreMetrics
import Domain
import Logging
import Metrics
import Synchronization

/// Holds what Apple has answered about purchases until it is written: no answer waits for the store.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | not yet written | app, environment and transaction | until a `save()` takes it | `capacity`, beyond which nothing is added |
///
/// A `save()` writes at most `batch` of them in one commit, so that what it costs does not grow with the load. What is dropped is
/// counted: it is as if Apple had not been asked.
final class AnswerMemory: Sendable {
    private struct State {
        var unwritten: [AppleAnswer.Key: AppleAnswer] = [:]
        /// How many erasures there had been when they were noted; what was noted before another one is forgotten.
        var erasures = 0
    }

    private let store: any AppleAnswerStore
    private let capacity: Int
    private let batch: Int
    private let clock: ServiceClock
    private let dropped: Counter
    private let logger: Logger
    private let state = Mutex(State())

    init(
        store: any AppleAnswerStore, capacity: Int = 1000, batch: Int = 250, clock: ServiceClock,
        factory: any MetricsFactory, logger: Logger
    ) {
        self.store = store
        self.capacity = capacity
        self.batch = batch
        self.clock = clock
        dropped = Counter(label: "purser_answers_dropped", factory: factory)
        self.logger = logger
    }

    /// Takes an answer that was verified; the store hears of it with a later `save()`.
    func note(_ answer: AppleAnswer) {
        let (key, erasures) = (answer.key, store.erasures)
        let lost = state.withLock { state in
            let forgotten = state.erasures == erasures ? 0 : state.unwritten.count
            if state.erasures != erasures { (state.unwritten, state.erasures) = ([:], erasures) }
            if let known = state.unwritten[key] {
                state.unwritten[key] = known.merged(with: answer)
                return 0
            }
            guard state.unwritten.count < capacity else { return 1 }
            state.unwritten[key] = answer
            return forgotten
        }
        if lost > 0 { dropped.increment(by: lost) }
    }

    /// Writes some of what was noted.
    ///
    /// What cannot be written is forgotten: it would fill memory while the store is away.
    func save() async {
        let (answers, erasures) = state.withLock { state in
            let keys = Array(state.unwritten.keys.prefix(batch))
            return (keys.compactMap { state.unwritten.removeValue(forKey: $0) }, state.erasures)
        }
        guard !answers.isEmpty else { return }
        do throws(ServiceError) {
            try await store.keep(answers, notedAfter: erasures, at: clock.now())
        } catch {
            dropped.increment(by: answers.count)
            logger.tell(
                "Answers of Apple's cannot be kept", error, level: .warning, ["count": "\(answers.count)"])
        }
    }
}
