import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Usage through a whole daemon: what was answered is kept, and found for the purchase that Apple tells of.
struct UsageTests {
    private static let app = DaemonFixture.app

    @Test func `what a service reported by user and product is found for the purchase, and outlives the daemon`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-usage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        do {
            let purchase = OneTime<(user: String, transaction: String)>()
            try await DaemonFixture.run(DaemonFixture.notified, folder, simulator) { fixture in
                let (user, _, transaction) = try await fixture.customer()
                let body =
                    #"{"usage":[{"user":"\#(user)","productId":"gems","deliveryStatus":"DELIVERED","consumptionPercentage":25000}]}"#
                let reported = try await fixture.send("POST", "\(Self.app)/usage:batch", body: body)
                #expect(try reported.json["results"]?[0]?["outcome"] == "created")
                // Apple's request tells what was bought, and by whom, unless a notification of the purchase was quicker.
                _ = try await fixture.requestRefund(of: transaction)
                purchase.give((user, transaction))
            }
            let (user, transaction) = try #require(purchase.now)
            try await DaemonFixture.run(DaemonFixture.notified, folder, simulator) { fixture in
                let found = try await fixture.send("GET", "\(Self.app)/transactions/\(transaction)/usage").json
                #expect(found["usage"]?["user"] == .string(user) && found["usage"]?["consumptionPercentage"] == 25000)
                #expect(found["appleV1"]?["consumptionStatus"] == 2)
                let erased = try await fixture.send("DELETE", "\(Self.app)/users/\(user)").json
                #expect(erased["erased"]?["usage"] == 1)
                #expect(try await fixture.send("GET", "\(Self.app)/transactions/\(transaction)/usage").status == 404)
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }
}
