import Dispatch
import Listener
import NIOCore
import NIOPosix
import ServiceLifecycleTestKit
import Systemd
import TestSupport
import Testing

@Suite(.endsHangs) struct EventLoopHeartbeatTests {
    @Test func returnsWhenEveryLoopHasRun() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        await EventLoopHeartbeat.beat(group)
        try await group.shutdownGracefully()
    }

    @Test func oneBlockedLoopStarvesTheWatchdogUntilItRunsAgain() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let clock = ManualClock()
        let (messages, continuation) = AsyncStream.makeStream(of: String.self)
        let service = WatchdogService(
            interval: .seconds(20),
            heartbeats: [Heartbeat(name: "event loops") { await EventLoopHeartbeat.beat(group) }],
            notifier: Notifier { message in
                continuation.yield(message)
                return true
            },
            clock: clock, healthyStatus: { "Serving" }, logger: .quiet)
        await testGracefulShutdown { trigger in
            await withTaskGroup { tasks in
                tasks.addTask { await service.run() }
                #expect(await messages.first { _ in true } == "WATCHDOG=1")

                let release = DispatchSemaphore(value: 0)
                let blocked = Gate()
                let loop = group.next()
                loop.execute {
                    Task { await blocked.pass() }
                    release.wait()
                }
                await blocked.hasArrivals(1)
                for _ in 1...12 {
                    await clock.sleeperHasArrived()
                    clock.advance(by: .seconds(5))
                }
                #expect(await messages.first { _ in true } == "STATUS=No heartbeat from: event loops")

                release.signal()
                // The next message: the watchdog was not fed in between.
                #expect(await messages.first { _ in true } == "WATCHDOG=1\nSTATUS=Serving")
                trigger.triggerGracefulShutdown()
            }
        }
        try await group.shutdownGracefully()
    }
}
