import Glibc
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import TestSupport
import Testing

@testable import Systemd

@Suite(.endsHangs) struct WatchdogServiceTests {
    private let clock = ManualClock()
    private let manager = RecordingManager()
    private let log = RecordingLog()

    private func service(interval: Duration? = .seconds(20), _ heartbeats: Heartbeat...) -> WatchdogService {
        WatchdogService(
            interval: interval, heartbeats: heartbeats, notifier: manager.notifier, clock: clock,
            healthyStatus: { "Serving" }, logger: log.logger)
    }

    /// Lets a quarter of the interval pass.
    private func tick(times: Int = 1) async {
        for _ in 1...times {
            await clock.sleeperHasArrived()
            clock.advance(by: .seconds(5))
        }
    }

    @Test func feedsTheWatchdogTwiceInEachInterval() async {
        let service = service(Heartbeat(name: "store") {}, Heartbeat(name: "event loops") {})
        await withTaskGroup { group in
            group.addTask { await service.run() }
            #expect(await manager.next() == "WATCHDOG=1")
            for _ in 1...3 {
                await tick(times: 2)
                #expect(await manager.next() == "WATCHDOG=1")
            }
            group.cancelAll()
        }
        #expect(await manager.rest().isEmpty)
        #expect(log.lines.isEmpty)
    }

    @Test func withholdsTheFoodWhileAPartHangsAndResumesWhenItRunsAgain() async {
        let gate = Gate()
        let service = service(Heartbeat(name: "event loops") { await gate.pass() })
        await withTaskGroup { group in
            group.addTask { await service.run() }
            #expect(await manager.next() == "WATCHDOG=1")
            gate.close()
            await tick(times: 3)
            #expect(await manager.next() == "STATUS=No heartbeat from: event loops")
            await tick(times: 20)
            gate.open()
            // It is the next message: nothing was sent in all that time.
            #expect(await manager.next() == "WATCHDOG=1\nSTATUS=Serving")
            #expect(gate.arrivals == 3, "one healthy round, the one that hung, one fresh: no questions piled up")
            group.cancelAll()
        }
        #expect(
            log.lines == [
                "error: No heartbeat: the watchdog is not fed [event loops]",
                "notice: Every part answers the watchdog again",
            ])
    }

    @Test func endsAtGracefulShutdownThoughAPartHangs() async {
        let gate = Gate()
        gate.close()
        let service = service(Heartbeat(name: "curl") { await gate.pass() })
        await testGracefulShutdown { trigger in
            await withTaskGroup { group in
                group.addTask { await service.run() }
                await tick()
                #expect(await manager.next() == "STATUS=No heartbeat from: curl")
                trigger.triggerGracefulShutdown()
            }
        }
        gate.open()
    }

    @Test func withoutAWatchdogItOnlyWaitsForItsEnd() async {
        let service = service(interval: nil, Heartbeat(name: "store") { Issue.record("nobody watches") })
        await testGracefulShutdown { trigger in
            await withTaskGroup { group in
                group.addTask { await service.run() }
                trigger.triggerGracefulShutdown()
            }
        }
        #expect(await manager.rest().isEmpty)
    }

    @Test func firstInTheGroupItBeatsWhileTheOthersDrain() async throws {
        let (drainStarted, mayEnd) = (Gate(), Gate())
        drainStarted.close()
        mayEnd.close()
        let group = ServiceGroup(
            services: [
                service(Heartbeat(name: "store") {}),
                DrainingService(drainStarted: drainStarted, mayEnd: mayEnd),
            ],
            logger: log.logger)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            #expect(await manager.next() == "WATCHDOG=1")
            await group.triggerGracefulShutdown()
            await drainStarted.pass()
            await tick(times: 2)
            #expect(await manager.next() == "WATCHDOG=1")
            mayEnd.open()
            try await tasks.waitForAll()
        }
    }

    @Test func logsOnlyOnceThatTheServiceManagerCannotBeReached() async {
        let service = WatchdogService(
            interval: .seconds(20), heartbeats: [Heartbeat(name: "store") {}],
            notifier: Notifier { (message) throws(SystemdError) in
                manager.receive(message)
                throw SystemdError(operation: "sd_notify", code: ECONNREFUSED)
            },
            clock: clock, healthyStatus: { "Serving" }, logger: log.logger)
        await withTaskGroup { group in
            group.addTask { await service.run() }
            for _ in 1...3 {
                #expect(await manager.next() == "WATCHDOG=1")
                await tick(times: 2)
            }
            group.cancelAll()
        }
        #expect(log.lines == ["error: The service manager cannot be told"])
    }
}

@Suite struct WatchdogRoundsTests {
    @Test func asksOnEverySecondTickAndIsSatisfiedByTheLastAnswer() {
        var rounds = WatchdogRounds(partCount: 2)
        #expect(rounds.tick() == .ask)
        #expect(rounds.answered(1) == nil)
        #expect(rounds.answered(0) == .allIsWell)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .ask)
    }

    @Test func reportsALatePartOnce() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        #expect(rounds.tick() == .late([1]))
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == nil)
    }

    @Test func asksEverybodyAgainBeforeItCallsALatePartRecovered() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        _ = rounds.tick()
        #expect(rounds.answered(1) == .ask)
        #expect(rounds.answered(1) == nil)
        #expect(rounds.answered(0) == .recovered)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .ask)
        #expect(rounds.answered(0) == nil)
        #expect(rounds.answered(1) == .allIsWell)
    }

    @Test func reportsAPartThatBecomesLateBesideAnother() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        #expect(rounds.tick() == .late([1]))
        #expect(rounds.answered(1) == .ask)
        #expect(rounds.tick() == .late([0, 1]))
    }

    @Test func withoutPartsAllIsAlwaysWell() {
        var rounds = WatchdogRounds(partCount: 0)
        #expect(rounds.tick() == .allIsWell)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .allIsWell)
    }
}
