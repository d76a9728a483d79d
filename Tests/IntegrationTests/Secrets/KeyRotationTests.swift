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
        _ body: @Sendable (DaemonStage, DaemonProcess, CallerCrowd) async throws -> Void
    ) async throws {
        var settings = DaemonStage.Settings()
        settings.callers = ["billing": "prs_billing"]
        settings.scopes = ["transactions:read"]
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
            try await body(stage, daemon, CallerCrowd(stage.api("billing"), asking: targets))
            #expect(try await daemon.terminate() == 0)
        }
    }

    /// Waits until the App Store has answered calls that a key signed.
    private func isInUse(_ key: String, in stage: DaemonStage, by crowd: CallerCrowd) async throws {
        stage.simulator.state.clearReceived()
        while !stage.simulator.state.received.requests.contains(where: { $0.keyID == key && $0.status == 200 }) {
            try await crowd.succeeds(times: 1)
        }
    }

    @Test func `a standby takes over from a key that Apple refuses, without a failed request`() async throws {
        try await withCrowd(standbyKeys: ["STANDBYKEY"]) { stage, _, crowd in
            let successes = try await crowd.asks {
                try await crowd.succeeds(times: 128)
                try stage.simulator.state.revokeKey(Self.key)
                try await isInUse("STANDBYKEY", in: stage, by: crowd)
                try await crowd.succeeds(times: 128)
            }
            #expect(crowd.failures.isEmpty, "\(crowd.failures)")
            #expect(successes >= 256)
        }
    }

    @Test func `a key is imported, checked, activated, and the old one retired, without a failed request`() async throws
    {
        try await withCrowd { stage, _, crowd in
            let file = try stage.makeKey("NEXTKEY001", at: "AuthKey_NEXTKEY001.p8")
            try await crowd.asks {
                try await crowd.succeeds(times: 64)
                for arguments in [
                    ["import", file.path, "--issuer", DaemonStage.issuer, "--app", "coins"], ["check", "NEXTKEY001"],
                    ["activate", "NEXTKEY001"],
                ] {
                    let outcome = try await Wait.value("keys \(arguments[0])") {
                        let outcome = try await stage.command(["keys"] + arguments)
                        // Beside everything else that runs here, Apple may take too long to judge a key.
                        return outcome.status != 0 && outcome.output.contains("noAnswer") ? nil : outcome
                    }
                    #expect(outcome.status == 0, "\(arguments[0]): \(outcome)")
                    try await crowd.succeeds(times: 64)
                }
                try await isInUse("NEXTKEY001", in: stage, by: crowd)
                try await crowd.succeeds(times: 64)
            }
            #expect(crowd.failures.isEmpty, "\(crowd.failures)")
            // Whoever signs with the old key now is refused, and it is nobody.
            try stage.simulator.state.revokeKey(Self.key)
            stage.simulator.state.clearReceived()
            try await crowd.asks { try await crowd.succeeds(times: 64) }
            let keys = Set(stage.simulator.state.received.requests.compactMap(\.keyID))
            #expect(keys == ["NEXTKEY001"])
            let list = try await stage.command("keys", "list")
            #expect(list.output.contains("NEXTKEY001  active"), "\(list)")
        }
    }
}
