import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// What never arrived, and does not verify either because our configuration is wrong, is found once that is mended.
struct RecoveryTests {
    @Test func `a missed request that a wrong app id keeps from verifying opens its case after the mend`() async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        do {
            try await recover(folder, simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    private func recover(_ folder: URL, _ simulator: Simulator) async throws {
        let (ids, next) = AsyncStream.makeStream(of: (user: String, gems: String).self)
        try await DaemonFixture.run(.init(notifications: .deadEnd), folder, simulator) { fixture in
            let (user, _, gems) = try await fixture.customer()
            try simulator.state.requestRefund(of: gems, reason: .other)
            try await fixture.isAttempted(simulator.state.notifications.count)
            next.yield((user, gems))
        }
        let wrong = DaemonFixture.Options(searchesHistory: true, appAppleID: 43)
        try await DaemonFixture.run(wrong, folder, simulator) { fixture in
            // The request is met in the first pass.
            try await Wait.bounding("all passes of the search") {
                await simulator.state.wait(for: .requestReceived) { _ in
                    fixture.calls(.getNotificationHistory, .production) >= 3
                }
            }
            #expect(try await count(of: "notifications", fixture) == 0)
        }
        try await DaemonFixture.run(wrong, folder, simulator) { fixture in
            try await Wait.until("the quarantine to be told of") {
                let metrics = String(
                    decoding: try await fixture.send("GET", "\(fixture.health)/metrics").body, as: UTF8.self)
                return metrics.contains(/\npurser_quarantined_notifications [1-9]/)
            }
            #expect(try await count(of: "notifications", fixture) == 0)
            #expect(try await count(of: "cases", fixture) == 0)
        }
        // Apple is not asked again: what was kept is enough.
        try await DaemonFixture.run(.init(), folder, simulator) { fixture in
            for await (user, gems) in ids {
                try await fixture.event("case.opened", about: gems)
                #expect(try await fixture.refundCase(of: gems)["owner"] == .string(user))
                let target = "\(DaemonFixture.app)/notifications?transactionId=\(gems)&type=CONSUMPTION_REQUEST"
                let found = try await fixture.send("GET", target).json["notifications"]
                #expect(found?.array?.count == 1 && found?[0]?["source"] == "history")
                break
            }
        }
    }

    private func count(of list: String, _ fixture: DaemonFixture) async throws -> Int? {
        try await fixture.send("GET", "\(DaemonFixture.app)/\(list)").json[list]?.array?.count
    }
}
