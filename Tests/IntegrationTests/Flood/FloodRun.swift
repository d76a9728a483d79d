import Foundation
import TestSupport

/// Plays one attack against a daemon of its own, with honest clients beside it, first without it and then with it.
struct FloodRun: Sendable {
    let attack: FloodAttack
    let stage: DaemonStage

    /// Plays an attack for so long.
    static func measure(_ attack: FloodAttack, for time: Duration) async throws -> FloodResult {
        try await DaemonStage.with(attack.settings) { stage in
            let daemon = try await stage.start()
            var result = try await FloodRun(attack: attack, stage: stage).measure(daemon, for: time)
            guard daemon.process.status == nil else {
                throw DaemonStage.Failure(description: "\(attack): the daemon ended:\n\(daemon.log.text)")
            }
            let start = ContinuousClock.now
            _ = try await daemon.terminate()
            result.end = start.duration(to: .now)
            return result
        }
    }

    private func measure(_ daemon: DaemonProcess, for time: Duration) async throws -> FloodResult {
        let client = try HonestClient(
            stage, patience: attack.bounds?.patience ?? .seconds(20),
            authority: attack.settings.webhookIsTLS ? stage.webhookAuthority : nil)
        let traffic = traffic(client)
        _ = await traffic.ask(times: 5)
        let alone = await traffic.go(on: time)
        let idle = Footprint.now(of: daemon.processID)
        if attack.bounds?.growthKilobytes != nil {
            // Buffers and caches that the first run of an attack fills are no growth.
            let attackers = try attack.start(stage)
            _ = await traffic.go(on: time)
            try await stop(attackers)
            try await settle(daemon, traffic, idle)
        }
        let before = Footprint.now(of: daemon.processID)
        let footprint = Footprint(of: daemon.processID)
        let attackers = try attack.start(stage)
        let beside = await traffic.go(on: time)
        let tally = attackers.reduce(into: Attacker.Tally()) { $0.add($1.tally) }
        let peak = footprint.stop()
        try await stop(attackers)
        if attack.bounds?.growthKilobytes != nil { try await settle(daemon, traffic, idle) }
        await client.shutdown()
        return FloodResult(
            attack: attack, alone: alone, beside: beside, attacker: tally, peak: peak, before: before,
            after: Footprint.now(of: daemon.processID))
    }

    private func stop(_ attackers: [Attacker]) async throws {
        for attacker in attackers { attacker.stop() }
        try await Wait.until("the attackers to end") { attackers.allSatisfy(\.hasEnded) }
    }

    /// Waits until the daemon has accepted and closed all connections of the attackers.
    private func settle(_ daemon: DaemonProcess, _ traffic: HonestTraffic, _ idle: Footprint.Peak) async throws {
        // The daemon accepts connections in the order in which they were opened.
        try await Wait.until("an honest request to be answered") {
            await traffic.ask(times: 1).failures.isEmpty || daemon.process.status != nil
        }
        // The daemon may have opened a few files. Nil where the descriptors of the process cannot be read.
        try await Wait.until("the connections of the attackers to end") {
            (Footprint.now(of: daemon.processID).descriptors ?? 0) <= (idle.descriptors ?? 0) + 8
        }
    }

    private func traffic(_ client: HonestClient) -> HonestTraffic {
        switch attack.honest {
        case .apple: HonestTraffic(clients: (0..<3).map { _ in { await client.notify() } })
        case .callers(let target):
            HonestTraffic(
                clients: (1...9).map { number in { await client.get(target, as: "prs_caller\(number)") } },
                pause: .milliseconds(100))
        case .consumption(let app):
            HonestTraffic(
                clients: [{ await client.requestConsumption(of: app, as: "prs_billing") }], pause: .milliseconds(100))
        case .probes: HonestTraffic(clients: (0..<3).map { _ in { await client.probe() } })
        case .calls:
            HonestTraffic(clients: (1...3).map { number in { await client.call(as: "prs_caller\(number)") } })
        }
    }
}

extension Attacker.Tally {
    fileprivate mutating func add(_ other: Self) {
        connections += other.connections
        closed += other.closed
        requests += other.requests
        answers.merge(other.answers, uniquingKeysWith: +)
    }
}

/// How an attack went, as one line for people.
struct FloodResult: Sendable, CustomStringConvertible {
    let attack: FloodAttack
    let alone: HonestFigures
    let beside: HonestFigures
    let attacker: Attacker.Tally
    let peak: Footprint.Peak
    /// The memory and descriptors of the daemon before the attack, and after the attackers have left.
    let before: Footprint.Peak
    let after: Footprint.Peak
    /// The time from SIGTERM to the end of the daemon.
    var end = Duration.zero

    /// The limits of the attack that it exceeds.
    var violations: [String] { attack.bounds?.violations(in: self) ?? [] }

    var description: String {
        let answers = attacker.answers.sorted { $0.key < $1.key }.map { "\($0.value) x \($0.key)" }
        let failures = Set(beside.failures).sorted().prefix(3).joined(separator: "; ")
        return """
            \(attack.name): honest alone \(Self.text(alone)), beside it \(Self.text(beside))\
            \(failures.isEmpty ? "" : " (\(failures))"); attacker \(attacker.connections) connections, \
            \(attacker.closed) closed on it, \(attacker.requests) requests, \(attacker.refused) refused\
            \(answers.isEmpty ? "" : " (\(answers.joined(separator: ", ")))"); daemon \
            \(peak.anonymousKilobytes / 1024) MB anonymous (\(before.anonymousKilobytes / 1024) before, \
            \(after.anonymousKilobytes / 1024) after), \(peak.descriptors.map(String.init) ?? "unknown") descriptors, \
            ended in \((end.inSeconds * 10).rounded() / 10) s
            """
    }

    private static func text(_ figures: HonestFigures) -> String {
        func milliseconds(_ share: Double) -> String {
            figures.percentile(share).map { ($0 * 10).rounded() / 10 }.map { "\($0)" } ?? "–"
        }
        return
            "p50 \(milliseconds(0.5)) p99 \(milliseconds(0.99)) ms, \(figures.failures.count) of \(figures.count) failed"
    }
}
