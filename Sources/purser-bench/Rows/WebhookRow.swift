import AppStoreAPI
import Foundation

/// Row 5: Apple's notifications, verified and stored durably before the answer.
struct WebhookRow: Row {
    let number = 5
    let title = "Webhook"
    let reference = "openssl speed ecdsap256, verify ÷ signatures"
    let tools = [Tool.openssl]

    private static let senders = 64
    /// More than a core verifies in a second.
    private static let count = 15_000

    func measure(in bench: Bench) async throws -> [Figure] {
        let daemon = try await PurserDaemon.start(
            PurserConfiguration(name: "webhook"), upstream: try Loopback.freePort(), in: bench)
        var plain = Figure("notifications with one signature", .perSecond, goal: .ratioAtLeast(0.6))
        var refunds = Figure("refund requests, with two signatures", .perSecond, goal: .ratioAtLeast(0.6))
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            plain.add(try await send(false, daemon, bench), against: speed.verificationsPerSecond)
            refunds.add(try await send(true, daemon, bench), against: speed.verificationsPerSecond / 2)
        }
        return [plain, refunds]
    }

    private func send(_ areRefundRequests: Bool, _ daemon: PurserDaemon, _ bench: Bench) async throws -> Double {
        let file = bench.folder.appending(path: "webhook.requests")
        try RequestFile.write(
            try (0..<Self.count).map { _ in try request(areRefundRequests, bench.fixtures.chain) }, to: file)
        let outcome = try await bench.run(
            LoadProbe(
                port: daemon.ports.webhook, requests: file.path, connections: Self.senders, seconds: 1),
            core: bench.cores.load)
        guard outcome.answers.keys.allSatisfy({ $0 == 200 }), outcome.broken == 0 else {
            throw BenchError("notifications were answered \(outcome.answers), \(outcome.broken) not at all")
        }
        try await daemon.process.settle()
        return outcome.successesPerSecond
    }

    private func request(_ isRefundRequest: Bool, _ chain: SigningChain) throws -> [UInt8] {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var data = NotificationData {
            $0.environment = .sandbox
            $0.bundleId = Fixtures.bundleID
            $0.bundleVersion = "1"
        }
        if isRefundRequest {
            var transaction = Fixtures.transaction(0)
            transaction.transactionId = "\(Int64.random(in: 6_000_000_000_000_000...6_999_999_999_999_999))"
            transaction.originalTransactionId = transaction.transactionId
            data.signedTransactionInfo = try chain.sign(transaction.serialized())
            data.consumptionRequestReason = .unintendedPurchase
        }
        let payload = NotificationPayload {
            $0.notificationType = isRefundRequest ? .consumptionRequest : .test
            $0.notificationUUID = UUID().uuidString.lowercased()
            $0.version = "2.0"
            $0.signedDate = now
            $0.data = data
        }
        let body = "{\"signedPayload\":\"\(try chain.sign(payload.serialized()))\"}"
        return RequestFile.request("POST", "/webhooks/apple/a0", body: Array(body.utf8))
    }
}
