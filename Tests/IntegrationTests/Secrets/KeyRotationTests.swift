import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Keys change while 64 callers go on asking, and none of them notices.
struct KeyRotationTests {
    private static let key = "ABCDEFGHIJ"

    /// Runs a daemon with callers that ask about a customer's purchases.
    private func withCrowd(
        standbyKeys: [String] = [],
        _ body: @Sendable (DaemonStage, CallerCrowd) async throws -> Void
    ) async throws {
        var settings = DaemonStage.Settings()
        settings.callers = ["billing": "prs_billing"]
        settings.standbyKeys = standbyKeys
        settings.requestsPerSecond = ["Get Transaction Info": 100_000]
        try await DaemonStage.with(settings) { stage in
            let account = try stage.simulator.state.createAccount(in: .production).id
            let targets = try (0..<256).map { index in
                var purchase = TransactionPayload()
                purchase.bundleId = DaemonStage.bundleID
                purchase.productId = "gems\(index)"
                purchase.type = .consumable
                let id = try #require(try stage.simulator.state.buy(purchase, by: account).transactionId)
                return "/v1/apps/coins/transactions/\(id)?environment=Production"
            }
            let daemon = try await stage.start()
            try await body(stage, CallerCrowd(stage.api("billing"), asking: targets))
            #expect(try await daemon.terminate() == 0)
        }
    }

    /// Waits until the App Store has answered calls that a key signed.
    private func isInUse(_ key: String, in stage: DaemonStage, times count: Int = 64) async throws {
        stage.simulator.state.clearReceived()
        try await Wait.bounding("calls with key \(key)") {
            await stage.simulator.state.wait(for: .requestReceived) {
                $0.received.requests.count { $0.keyID == key && $0.status == 200 } >= count
            }
        }
    }

    @Test func `a standby takes over from a key that Apple refuses, without a failed request`() async throws {
        try await withCrowd(standbyKeys: ["STANDBYKEY"]) { stage, crowd in
            let successes = try await crowd.asks {
                try await crowd.succeeds(times: 128)
                try stage.simulator.state.revokeKey(Self.key)
                try await isInUse("STANDBYKEY", in: stage)
                try await crowd.succeeds(times: 128)
            }
            #expect(crowd.failures.isEmpty, "\(crowd.failures)")
            #expect(successes >= 256)
        }
    }
}
