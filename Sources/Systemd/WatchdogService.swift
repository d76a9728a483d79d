package import Logging
import ServiceLifecycle

/// Sends `WATCHDOG=1` for as long as every part of the process makes progress.
///
/// Twice in each interval it asks all parts at once. When all have answered within a quarter of the interval it tells
/// the service manager; when one has not, it sends nothing, names the part in the log and in the status line, and goes
/// on asking. A process that stays stuck is then killed and restarted by the service manager.
///
/// It must stand **first** in the service group: services are shut down in reverse order, so it goes on beating while
/// all the others drain.
///
/// Source: sd_watchdog_enabled(3), systemd.service(5) `WatchdogSec=`
package struct WatchdogService: Service {
    private enum Event {
        case tick
        case answer(Int)
    }

    private let interval: Duration?
    private let heartbeats: [Heartbeat]
    private let notifier: Notifier
    private let clock: any Clock<Duration>
    private let healthyStatus: @Sendable () -> String
    private let logger: Logger

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - interval: the time after which the service manager acts, from ``Notifier/watchdogInterval()``; `nil`: nobody
    ///     watches, and ``run()`` only waits for its end.
    ///   - heartbeats: the parts to ask.
    ///   - notifier: the way to the service manager.
    ///   - clock: a monotonic clock.
    ///   - healthyStatus: the status line to restore once a late part has recovered.
    ///   - logger: gets one error when a part is late and one notice when it has recovered.
    package init(
        interval: Duration?,
        heartbeats: [Heartbeat],
        notifier: Notifier,
        clock: any Clock<Duration>,
        healthyStatus: @escaping @Sendable () -> String,
        logger: Logger
    ) {
        self.interval = interval
        self.heartbeats = heartbeats
        self.notifier = notifier
        self.clock = clock
        self.healthyStatus = healthyStatus
        self.logger = logger
    }

    /// Beats until graceful shutdown or cancellation.
    package func run() async {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        await cancelWhenGracefulShutdown {
            async let end: Void = watch(events, answers: continuation)
            await tick(into: continuation)
            await end
        }
    }

    private func tick(into continuation: AsyncStream<Event>.Continuation) async {
        defer { continuation.finish() }
        do {
            while let interval {
                continuation.yield(.tick)
                try await clock.sleep(for: interval / 4)
            }
            try await gracefulShutdown()
        } catch {
            // A sleep ends early only when its task is cancelled, which is how this service is told to stop.
        }
    }

    private func watch(_ events: AsyncStream<Event>, answers: AsyncStream<Event>.Continuation) async {
        var rounds = WatchdogRounds(partCount: heartbeats.count)
        for await event in events {
            let action =
                switch event {
                case .tick: rounds.tick()
                case .answer(let part): rounds.answered(part)
                }
            await perform(action, answers: answers)
        }
    }

    private func perform(_ action: WatchdogRounds.Action?, answers: AsyncStream<Event>.Continuation) async {
        switch action {
        case nil: break
        case .ask: ask(answers)
        case .allIsWell: await notifier.tell(.watchdog, logger: logger)
        case .recovered:
            logger.notice("Every part answers the watchdog again")
            await notifier.tell(.watchdog, .status(healthyStatus()), logger: logger)
        case .late(let parts):
            let names = parts.map { heartbeats[$0].name }
            logger.error("No heartbeat: the watchdog is not fed", metadata: ["parts": .array(names.map { "\($0)" })])
            await notifier.tell(.status("No heartbeat from: \(names.joined(separator: ", "))"), logger: logger)
        }
    }

    /// Starts one task per part that nobody waits for: a part that hangs must hold up neither the others nor the end.
    private func ask(_ answers: AsyncStream<Event>.Continuation) {
        for (part, heartbeat) in heartbeats.enumerated() {
            Task {
                await heartbeat.beat()
                answers.yield(.answer(part))
            }
        }
    }
}

/// A part of the process whose progress the watchdog asks for.
package struct Heartbeat: Sendable {
    /// The name under which a stall is reported, for example `event loops`.
    package let name: String

    /// Returns once the part has just run.
    ///
    /// It may hang as long as the part does; it is not called again until it has returned.
    package let beat: @Sendable () async -> Void

    package init(name: String, beat: @escaping @Sendable () async -> Void) {
        self.name = name
        self.beat = beat
    }
}

/// Decides when to ask the parts for a heartbeat and when to tell the service manager that all is well.
///
/// It is fed a tick four times in each watchdog interval, and every answer. It asks everybody on every second tick;
/// who has not answered by the next one is late. No part is asked again before all have answered, so a part that
/// hangs has one unanswered question, never more.
struct WatchdogRounds {
    enum Action: Equatable {
        /// Ask every part for a heartbeat.
        case ask

        /// Everybody has just run.
        case allIsWell

        /// Everybody has just run, for the first time after a `late`.
        case recovered

        /// These parts, by their index, have not answered in time.
        case late([Int])
    }

    private let parts: Range<Int>
    private var ticksSinceAsked: Int?
    private var waitingFor: Set<Int> = []
    private var isLate = false
    private var reported: Set<Int> = []

    init(partCount: Int) {
        parts = 0..<partCount
    }

    mutating func tick() -> Action? {
        if waitingFor.isEmpty {
            let ticks = ticksSinceAsked.map { $0 + 1 }
            ticksSinceAsked = ticks
            guard ticks == nil || ticks == 2 else { return nil }
            return ask()
        }
        isLate = true
        guard !waitingFor.isSubset(of: reported) else { return nil }
        reported.formUnion(waitingFor)
        return .late(waitingFor.sorted())
    }

    mutating func answered(_ part: Int) -> Action? {
        waitingFor.remove(part)
        guard waitingFor.isEmpty else { return nil }
        // The answers that came in time are old by now: only a fresh round proves that all of them run.
        if isLate { return ask() }
        guard !reported.isEmpty else { return .allIsWell }
        reported = []
        return .recovered
    }

    private mutating func ask() -> Action {
        ticksSinceAsked = 0
        isLate = false
        waitingFor = Set(parts)
        return parts.isEmpty ? .allIsWell : .ask
    }
}
