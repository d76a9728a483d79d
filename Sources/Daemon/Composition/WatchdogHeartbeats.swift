import Curl
import Domain
import Listener
import NIOPosix
import StoreSQL
import Systemd

/// What the watchdog asks: each part that the daemon cannot do without, and that could hang without the process ending.
///
/// One that does not answer in time keeps the watchdog from being fed, and systemd starts the daemon anew
/// (`WatchdogSec=` of the unit). Its name is then in the log and in the status line.
func watchdogHeartbeats(
    _ eventLoops: MultiThreadedEventLoopGroup, _ curl: CurlClient, _ store: any SQLStore,
    _ dispatcher: DeliveryDispatcher
) -> [Heartbeat] {
    [
        // Every loop runs a task: requests are read and answered.
        Heartbeat(name: "event loops") { await EventLoopHeartbeat.beat(eventLoops) },
        // The thread of libcurl takes a command: calls to Apple go on.
        Heartbeat(name: "curl thread") { _ = await curl.heartbeat() },
        // The store's executor runs, or waits for the disk: whether the disk works is `/readyz`'s to tell.
        Heartbeat(name: "store executor") { await store.heartbeat() },
        // The loop that sends deliveries turns.
        Heartbeat(name: "deliveries") { await dispatcher.heartbeat() },
    ]
}

extension WatchdogService {
    /// How often the parts are asked where nobody watches: their ages are metrics, and a part that hangs is logged, all the same.
    private static let unwatchedInterval = Duration.seconds(60)

    /// Asks the parts as often as the service manager's interval wants, and tells it the status line.
    init(asking heartbeats: [Heartbeat], health: HealthMonitor, _ dependencies: Dependencies) {
        self.init(
            interval: dependencies.watchdogInterval ?? Self.unwatchedInterval, heartbeats: heartbeats,
            notifier: dependencies.notifier,
            clock: ContinuousClock(), healthyStatus: { health.statusLine }, logger: dependencies.logger)
    }
}
