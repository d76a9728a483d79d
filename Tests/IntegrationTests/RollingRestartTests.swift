import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

/// Three copies behind nginx, as docs/scaling.md has it, which are restarted one after the other while callers go on.
@Suite(.needsPostgres, .needsNginx)
struct RollingRestartTests {
    private static let app = "/v1/apps/coins"
    private static let callers = 8
    /// How often all copies are restarted.
    private static let rounds = ProcessInfo.processInfo.environment["ROLLING_ROUNDS"].flatMap { Int($0) } ?? 1

    /// What callers were answered.
    private final class Answers: Sendable {
        private let state = Mutex<(count: Int, failures: [String], isOver: Bool)>((0, [], false))

        var count: Int { state.withLock(\.count) }
        var failures: [String] { state.withLock(\.failures) }
        var isOver: Bool { state.withLock(\.isOver) }

        func end() { state.withLock { $0.isOver = true } }

        func note(_ request: String, _ reply: LocalClient.Reply?, expected: ClosedRange<Int>) {
            let isGood = reply.map { expected.contains($0.status) } ?? false
            let text = reply.map { "\($0.status) \(String(decoding: $0.body.prefix(200), as: UTF8.self))" }
            state.withLock { state in
                state.count += 1
                if !isGood { state.failures.append("\(request): \(text ?? "no answer")") }
            }
        }
    }

    /// Buys something, has it linked, answers a refund question about it and reads what became of that, again and again.
    private static func call(_ client: LocalClient, _ stage: DaemonStage, _ caller: Int, _ answers: Answers)
        async throws
    {
        let account = try stage.simulator.state.createAccount(in: .production).id
        var number = 0
        while !answers.isOver {
            number += 1
            let id = try stage.sellGems(to: account)
            let user = "\(app)/users/user-\(caller)"
            answers.note(
                "PUT link", await client.send("PUT", "\(user)/links/transactionId/\(id)"), expected: 200...201)
            let accepted = await client.send(
                "POST", "\(user)/consumption",
                ["Prefer": "respond-async", "Idempotency-Key": "\(caller)-\(number)"],
                body: [
                    "transactionId": .string(id), "customerConsented": true, "deliveryStatus": "DELIVERED",
                    "sampleContentProvided": false,
                ])
            answers.note("POST consumption", accepted, expected: 202...202)
            guard let delivery = accepted?.json?["id"]?.string else { continue }
            answers.note(
                "GET delivery", await client.send("GET", "\(app)/deliveries/\(delivery)"), expected: 200...200)
        }
    }

    @Test func `whoever asks through a proxy notices nothing of a restart of all copies, one after the other`()
        async throws
    {
        var settings = DaemonStage.Settings()
        settings.database = try await PostgresServer.running().makeNamedDatabase()
        settings.apiHasPort = true
        settings.drainDelay = 1
        try await DaemonStage.with(settings) { stage in
            let stages = [stage, try stage.onAnotherHost(named: "b"), try stage.onAnotherHost(named: "c")]
            var processes: [DaemonProcess] = []
            for stage in stages { processes.append(try await stage.start()) }
            let answers = Answers()
            try await NginxProxy.with(stages) { client in
                try await withThrowingTaskGroup { group in
                    for caller in 0..<Self.callers {
                        group.addTask { try await Self.call(client, stage, caller, answers) }
                    }
                    for _ in 0..<Self.rounds {
                        for (number, stage) in stages.enumerated() {
                            let before = answers.count
                            #expect(try await processes[number].terminate() == 0)
                            processes[number] = try await stage.start()
                            try await Wait.until("more answers") { answers.count > before + Self.callers }
                        }
                    }
                    answers.end()
                    try await group.waitForAll()
                }
            }
            for process in processes { #expect(try await process.terminate() == 0) }
            #expect(
                answers.failures.isEmpty,
                "\(answers.failures.count) of \(answers.count): \(answers.failures.prefix(5))\n\(NginxProxy.errors(stages))"
            )
            print("rolling restart: \(answers.count) answers, \(Self.rounds * stages.count) restarts")
        }
    }
}
