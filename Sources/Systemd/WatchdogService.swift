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
        var sendingFails = false
        for await event in events {
            let action =
                switch event {
                case .tick: rounds.tick()
                case .answer(let part): rounds.answered(part)
                }
            do {
                try await perform(action, answers: answers)
                if action != nil && action != .ask { sendingFails = false }
            } catch {
                guard !Task.isCancelled else { return }
                if !sendingFails { logger.error("Cannot tell the service manager", metadata: ["reason": "\(error)"]) }
                sendingFails = true
            }
        }
    }

    private func perform(
        _ action: WatchdogRounds.Action?, answers: AsyncStream<Event>.Continuation
    ) async throws(SystemdError) {
        switch action {
        case nil: break
        case .ask: ask(answers)
        case .allIsWell: try await notifier.notify(.watchdog)
        case .recovered:
            logger.notice("Every part answers the watchdog again")
            try await notifier.notify(.watchdog, .status(healthyStatus()))
        case .late(let parts):
            let names = parts.map { heartbeats[$0].name }
            logger.error("No heartbeat: the watchdog is not fed", metadata: ["parts": .array(names.map { "\($0)" })])
            try await notifier.notify(.status("No heartbeat from: \(names.joined(separator: ", "))"))
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
