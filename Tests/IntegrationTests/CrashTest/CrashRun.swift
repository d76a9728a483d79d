import AppStoreSimulator
import Foundation
import JSON
import TestSupport

/// Kills daemons under load and compares, at the end, what callers were told with what the App Store received.
struct CrashRun: Sendable {
    struct Plan: Sendable {
        /// How many daemons are killed, unless time is over before.
        var kills: Int
        /// How long daemons are killed at most; the end may take longer.
        var time: Duration?
        var users = 6
        /// How many copies on one database there are; one daemon on a file of its own if it is 1.
        var copies = 1
        var seed: UInt64
    }

    let stage: DaemonStage
    let plan: Plan
    /// Where copies have their database.
    private let server: PostgresServer?
    private let database: PostgresServer.Database?
    let fleet: CrashFleet
    let ledger = CrashLedger()
    private let stopping = OneTime<Void>()

    /// Runs a plan on a stage of its own.
    static func run(_ plan: Plan) async throws -> CrashReport {
        var settings = DaemonStage.Settings()
        // For the circumstances of what is found.
        settings.scopes = ["consent:read"]
        guard plan.copies > 1 else {
            return try await DaemonStage.with(seed: plan.seed, settings, appleTimes: .short) { stage in
                try await CrashRun(CrashFleet([stage]), plan: plan).run()
            }
        }
        let server = try await PostgresServer.start()
        let database = try await server.makeNamedDatabase()
        settings.database = database
        settings.hasMasterKeyPerHost = true
        let report = try await DaemonStage.with(seed: plan.seed, settings, appleTimes: .short) { stage in
            let others = try (1..<plan.copies).map { try stage.onAnotherHost(named: "copy-\($0)") }
            let wrongKey = try stage.onAnotherHost(named: "wrong-master-key")
            try Data(String(repeating: "a", count: 64).utf8).write(to: URL(filePath: wrongKey.masterKey))
            return try await CrashRun(
                CrashFleet([stage] + others, wrongMasterKey: wrongKey), plan: plan, server, database
            ).run()
        }
        try await server.stop()
        return report
    }

    private init(
        _ fleet: CrashFleet, plan: Plan, _ server: PostgresServer? = nil, _ database: PostgresServer.Database? = nil
    ) {
        stage = fleet.stages[0]
        self.fleet = fleet
        self.plan = plan
        self.server = server
        self.database = database
    }

    private var reader: EventReader { EventReader(fleet: fleet, stopping: stopping) }

    private func run() async throws -> CrashReport {
        let callers = try (0..<plan.users).map(caller)
        return try await withThrowingTaskGroup(of: [String].self) { group in
            for caller in callers {
                group.addTask {
                    try await caller.sendUntilStopped()
                    return []
                }
            }
            for caller in callers where caller.seed.isMultiple(of: 2) {
                group.addTask {
                    try await caller.changeConsentUntilStopped()
                    return []
                }
            }
            group.addTask { try await reader.followUntilStopped() }
            do {
                return try await story(&group)
            } catch {
                // Whoever waits for a daemon waits no more.
                ledger.stopWaiting()
                fleet.isOver()
                throw error
            }
        }
    }

    /// Kills daemons, lets the last one come to an end, and compares.
    private func story(
        _ group: inout ThrowingTaskGroup<[String], any Error>
    ) async throws -> CrashReport {
        let faults: [String: Int]
        if let server, let database {
            faults = try await disturbCopies(server, database)
        } else {
            faults = ["kills": try await killDaemons()]
            try await fleet.start(0)
        }
        stage.simulator.state.removeAllFaults()
        // However slow the machine is: without a delivery there is nothing to compare.
        try await Wait.until("a delivery that is taken over") { ledger.hasDelivery }
        stopping.give(())
        ledger.stopWaiting()
        var followed: [String] = []
        for try await ids in group where !ids.isEmpty { followed = ids }
        var evidence = try await conclude()
        evidence.followedEvents = followed
        // What came after the reader had stopped was not to be followed.
        evidence.allEvents = Array(evidence.allEvents.prefix(followed.count))
        let report = await report(faults, evidence)
        for process in fleet.stages.indices.compactMap(fleet.process) {
            let status = try await process.terminate()
            guard status == 0 else {
                throw DaemonStage.Failure(description: "the last daemon ended with \(status):\n\(process.log.text)")
            }
        }
        return report
    }

    private func report(_ faults: [String: Int], _ evidence: CrashEvidence) async -> CrashReport {
        let comparison = CrashComparison(evidence)
        let details = [
            "answers=\(ledger.answers) repetitions=\(ledger.repetitions) receipts=\(evidence.receipts.count) "
                + "withdrawals=\(evidence.stops.count { $0.cause == .withdrawal }) events=\(evidence.followedEvents.count)",
            ledger.facts, faults.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "),
        ]
        return CrashReport(
            seed: plan.seed, kills: faults.values.reduce(0, +), comparison: comparison, details: details,
            circumstances: await circumstances(of: comparison.findings, evidence))
    }

    private func caller(_ number: Int) throws -> CrashCaller {
        let account = try stage.simulator.state.createAccount(
            in: number.isMultiple(of: 2) ? .production : .sandbox)
        return CrashCaller(
            stage: stage, fleet: fleet, ledger: ledger, stopping: stopping,
            user: UUID().uuidString.lowercased(),
            account: account.id, seed: plan.seed &* 1000 &+ UInt64(number / 2 * 4 + number % 2))
    }

    // MARK: Killing

    /// Starts daemons and kills them at random moments.
    private func killDaemons() async throws -> Int {
        var generator = SeededGenerator(seed: plan.seed)
        let end = plan.time.map { ContinuousClock.now + $0 }
        var kills = 0
        while kills < plan.kills, end.map({ ContinuousClock.now < $0 }) ?? true {
            CrashFaults.change(stage.simulator.state, &generator)
            if Int.random(in: 0..<100, using: &generator) < 15 {
                // While it starts, which is when it recovers what the one before it left behind.
                try fleet.launch(0)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &generator)))
            } else {
                try await fleet.start(0)
                await somethingHappens(&generator)
            }
            try await fleet.kill(0)
            kills += 1
            ledger.receive(stage.simulator.state.takeReceipts())
        }
        return kills
    }

    /// Waits for a random number of requests to the App Store, or for a random time.
    func somethingHappens(_ generator: inout SeededGenerator) async {
        let target =
            stage.simulator.state.received.requests.count + Int.random(in: 1...40, using: &generator)
        let time = Duration.milliseconds(Int.random(in: 0...900, using: &generator))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await stage.simulator.state.wait(for: .requestReceived) {
                    $0.received.requests.count >= target
                }
            }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: The end

    /// Waits until no delivery is under way any more, and gathers what there is to compare.
    private func conclude() async throws -> CrashEvidence {
        let api = stage.api()
        var cursor = try await get("/v1/apps/coins/events?wait=0&limit=1")["cursor"]?.string ?? "0"
        try await Wait.until("the last delivery to end") {
            let open = try await get("/v1/apps/coins/deliveries?state=queued&state=sending&pageSize=1")
            if open["deliveries"]?.array?.isEmpty == true { return true }
            cursor = try await get("/v1/apps/coins/events?after=\(cursor)&wait=5")["cursor"]?.string ?? cursor
            return false
        }
        ledger.receive(stage.simulator.state.takeReceipts())
        var evidence = ledger.evidence
        evidence.records = try await records(api)
        evidence.allEvents = try await reader.all()
        return evidence
    }

    /// What is known about what findings are about, for whoever looks for the reason.
    private func circumstances(of findings: [CrashComparison.Finding], _ evidence: CrashEvidence) async -> [String] {
        var lines: [String] = []
        for transaction in Set(findings.compactMap(\.transactionID)).sorted().prefix(CrashReport.longestList) {
            lines.append("transaction \(transaction):")
            lines += evidence.sends.filter { $0.transactionID == transaction }.flatMap(\.answers).map {
                "  answered: \($0)"
            }
            lines += evidence.receipts.filter { $0.transactionID == transaction }.map {
                "  arrived: \($0.arrival), answered with \($0.status.map(String.init) ?? "nothing") until \($0.end?.description ?? "-")"
            }
            let holder = ledger.holder(of: transaction)
            for path in ["deliveries?transactionId=\(transaction)"]
                + (holder.map { ["users/\($0)/consent", "users/\($0)/links"] } ?? [])
            {
                let reply = await stage.api().send("GET", "\(CrashCaller.app)/\(path)")
                lines.append("  \(path): \(reply.map { String(decoding: $0.body, as: UTF8.self) } ?? "no answer")")
            }
        }
        return lines
    }

    private func records(_ api: LocalClient) async throws -> [CrashEvidence.Record] {
        var records: [CrashEvidence.Record] = []
        var target: String? = "/v1/apps/coins/deliveries?pageSize=200"
        while let page = target {
            let answer = try await get(page)
            records += try (answer["deliveries"]?.array ?? []).map(CrashEvidence.Record.init)
            target = answer["nextPageToken"]?.string.map {
                "/v1/apps/coins/deliveries?pageSize=200&pageToken=\($0)"
            }
        }
        return records
    }

    private func get(_ target: String) async throws -> JSONValue {
        guard let reply = await stage.api().send("GET", target), reply.status == 200,
            let json = reply.json
        else {
            throw DaemonStage.Failure(description: "GET \(target) fails")
        }
        return json
    }
}
