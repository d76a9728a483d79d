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
            let result = try await FloodRun(attack: attack, stage: stage).measure(daemon, for: time)
            guard daemon.process.status == nil else {
                throw DaemonStage.Failure(description: "\(attack): the daemon ended:\n\(daemon.log.text)")
            }
            _ = try await daemon.terminate()
            return result
        }
    }

    private func measure(_ daemon: DaemonProcess, for time: Duration) async throws -> FloodResult {
        let client = try HonestClient(
            stage, authority: attack.settings.webhookIsTLS ? stage.webhookAuthority : nil)
        let traffic = traffic(client)
        _ = await traffic.ask(times: 5)
        let alone = await traffic.go(on: time)
        let footprint = Footprint(of: daemon.processID)
        let attackers = try attack.start(stage)
        let beside = await traffic.go(on: time)
        let tally = attackers.reduce(into: Attacker.Tally()) { $0.add($1.tally) }
        let peak = footprint.stop()
        for attacker in attackers { attacker.stop() }
        try await Wait.until("the attackers to end") { attackers.allSatisfy(\.hasEnded) }
        await client.shutdown()
        return FloodResult(attack: attack, alone: alone, beside: beside, attacker: tally, peak: peak)
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

    var description: String {
        let answers = attacker.answers.sorted { $0.key < $1.key }.map { "\($0.value) x \($0.key)" }
        let failures = Set(beside.failures).sorted().prefix(3).joined(separator: "; ")
        return """
            \(attack.name): honest alone \(Self.text(alone)), beside it \(Self.text(beside))\
            \(failures.isEmpty ? "" : " (\(failures))"); attacker \(attacker.connections) connections, \
            \(attacker.closed) closed on it, \(attacker.requests) requests, \(attacker.refused) refused\
            \(answers.isEmpty ? "" : " (\(answers.joined(separator: ", ")))"); daemon \
            \(peak.anonymousKilobytes / 1024) MB anonymous, \(peak.descriptors.map(String.init) ?? "unknown") descriptors
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
