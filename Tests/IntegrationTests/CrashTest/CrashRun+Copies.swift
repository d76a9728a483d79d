import AppStoreSimulator
import Foundation
import TestSupport

// What is done to several copies on one database, besides what is done to one daemon: they are killed and stopped one by one while
// the others go on, and the server ends connections or begins anew.

extension CrashRun {
    /// How long a copy is stopped so that its leases end meanwhile: longer than an attempt may last, and what a claim has besides.
    private static let longStop = Duration.seconds(DaemonStage.AppleTimes.short.deadline + 11)

    /// Does so many things to the copies, and has all of them serve at the end.
    ///
    /// - Returns: how often what was done, for people.
    func disturbCopies(_ server: PostgresServer, _ database: PostgresServer.Database) async throws -> [String: Int] {
        var generator = SeededGenerator(seed: plan.seed)
        var done: [String: Int] = [:]
        let end = plan.time.map { ContinuousClock.now + $0 }
        for number in fleet.stages.indices { try await fleet.start(number) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            var away: Set<Int> = []
            var faults = 0
            while faults < plan.kills, end.map({ ContinuousClock.now < $0 }) ?? true {
                CrashFaults.change(stage.simulator.state, &generator)
                await somethingHappens(&generator)
                let number = Int.random(in: 0..<fleet.stages.count, using: &generator)
                let kind: String
                switch Int.random(in: 0..<100, using: &generator) {
                case ..<50:
                    kind = "kills"
                    away.remove(number)
                    try await fleet.kill(number)
                    try await fleet.start(number)
                case ..<70:
                    kind = "stops"
                    let time = Duration.milliseconds(Int.random(in: 50...1500, using: &generator))
                    fleet.stop(number)
                    group.addTask {
                        try await Task.sleep(for: time)
                        self.fleet.wake(number)
                    }
                case ..<76 where away.count < fleet.stages.count - 1:
                    kind = "longStops"
                    away.insert(number)
                    fleet.hide(number)
                    fleet.stop(number)
                    group.addTask {
                        try await Task.sleep(for: Self.longStop)
                        self.fleet.wake(number)
                    }
                case ..<80:
                    kind = "wrongMasterKeys"
                    try await fleet.startWithWrongMasterKey()
                case ..<96:
                    kind = "endedConnections"
                    let probability = Double.random(in: 0.1...1, using: &generator)
                    try await server.endConnections(to: database, probability: probability)
                default:
                    kind = "serverRestarts"
                    try await server.restart()
                }
                done[kind, default: 0] += 1
                faults += 1
                ledger.receive(stage.simulator.state.takeReceipts())
            }
            try await group.waitForAll()
        }
        for number in fleet.stages.indices { fleet.wake(number) }
        return done
    }
}
