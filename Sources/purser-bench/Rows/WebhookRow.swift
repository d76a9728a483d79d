import AppStoreAPI
import Foundation

/// Row 5: Apple's notifications, verified and stored durably before the answer.
struct WebhookRow: Row {
    let number = 5
    let title = "Webhook"
    let reference = "openssl speed ecdsap256, verify ÷ signatures"
    let tools = [Tool.openssl]

    private static let senders = 64
    private static let seconds = 1.0
    /// More than a core verifies in a second.
    private static let count = 15_000

    func measure(in bench: Bench) async throws -> [Figure] {
        let daemon = try await PurserDaemon.start(
            PurserConfiguration(name: "webhook"), upstream: try Loopback.freePort(), in: bench)
        var plain = Kind(signatures: 1, "notifications with one signature")
        var refunds = Kind(signatures: 2, "refund requests, with two signatures")
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            plain.add(try await send(false, daemon, bench), against: speed.verificationsPerSecond)
            refunds.add(try await send(true, daemon, bench), against: speed.verificationsPerSecond)
        }
        return plain.figures + refunds.figures
    }

    /// What a burst of notifications came to.
    private struct Sample {
        let perSecond: Double
        let microseconds: Double
    }

    /// The measurements of one kind of notification.
    private struct Kind {
        let signatures: Double
        var rate: Figure
        var processor: Figure

        init(signatures: Double, _ name: String) {
            self.signatures = signatures
            rate = Figure(name, .perSecond, goal: .ratioAtLeast(0.6))
            processor = Figure(
                "\(name), processor time", .microseconds, reference: "openssl verify × signatures",
                note: "with what follows the answer: cases, links, events")
        }

        var figures: [Figure] { [rate, processor] }

        mutating func add(_ sample: Sample, against verificationsPerSecond: Double) {
            rate.add(sample.perSecond, against: verificationsPerSecond / signatures)
            processor.add(sample.microseconds, against: signatures / verificationsPerSecond * 1e6)
        }
    }

    private func send(_ areRefundRequests: Bool, _ daemon: PurserDaemon, _ bench: Bench) async throws -> Sample {
        let file = bench.folder.appending(path: "webhook.requests")
        try RequestFile.write(
            try (0..<Self.count).map { _ in try request(areRefundRequests, bench.fixtures.chain) }, to: file)
        let before = try daemon.usage().processorSeconds
        let outcome = try await bench.run(
            LoadProbe(
                port: daemon.ports.webhook, requests: file.path, connections: Self.senders, seconds: Self.seconds),
            core: bench.cores.load)
        guard outcome.answers.keys.allSatisfy({ $0 == 200 }), outcome.broken == 0 else {
            throw BenchError("notifications were answered \(outcome.answers), \(outcome.broken) not at all")
        }
        try await daemon.process.settle()
        let used = try daemon.usage().processorSeconds - before
        return Sample(
            perSecond: outcome.successesPerSecond,
            microseconds: used / (outcome.successesPerSecond * Self.seconds) * 1e6)
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
