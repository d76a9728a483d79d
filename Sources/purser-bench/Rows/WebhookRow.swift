import AppStoreAPI
import Foundation

/// Row 5: Apple's notifications, verified and stored durably before the answer.
struct WebhookRow: Row {
    let number = 5
    let title = "Webhook"
    let reference = "nginx as TLS reverse proxy, an answer"
    let tools = [Tool.nginx, .wrk, .openssl]

    private static let senders = 64
    private static let seconds = 1.0
    /// More than a core verifies in a second.
    private static let count = 15_000

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let nginx = try await GetSide.nginx(upstream, in: bench)
        let daemon = try await PurserDaemon.start(
            PurserConfiguration(name: "webhook"), upstream: upstream.port, in: bench)
        var plain = Kind(signatures: 1, "notifications with one signature", goal: .ratioAtMost(4))
        var refunds = Kind(signatures: 2, "refund requests, with two signatures", goal: nil)
        for _ in 0..<bench.repetitions {
            let proxy = try await nginx.sample(connections: Self.senders, in: bench).cost.microseconds
            let speed = try await OpenSSLSpeed.measure(in: bench).verificationsPerSecond
            plain.add(try await send(false, daemon, bench), nginx: proxy, verificationsPerSecond: speed)
            refunds.add(try await send(true, daemon, bench), nginx: proxy, verificationsPerSecond: speed)
        }
        return plain.figures + refunds.figures
    }

    /// What a burst of notifications came to.
    private struct Sample {
        let perSecond: Double
        let cost: AnswerCost
    }

    /// The measurements of one kind of notification.
    private struct Kind {
        private let signatures: Double
        private var rate: Figure
        private var cost: Figure
        private var threads: ThreadFigures

        init(signatures: Double, _ name: String, goal: Goal?) {
            self.signatures = signatures
            rate = Figure(name, .perSecond, reference: "openssl speed ecdsap256, verify ÷ signatures")
            cost = Figure(
                "\(name), processor time", .microseconds, goal: goal,
                note: "with what follows the answer: cases, links, events")
            threads = ThreadFigures(name)
        }

        var figures: [Figure] { [rate, cost] + threads.figures }

        mutating func add(_ sample: Sample, nginx: Double, verificationsPerSecond: Double) {
            rate.add(sample.perSecond, against: verificationsPerSecond / signatures)
            cost.add(sample.cost.microseconds, against: nginx)
            threads.add(sample.cost)
        }
    }

    private func send(_ areRefundRequests: Bool, _ daemon: PurserDaemon, _ bench: Bench) async throws -> Sample {
        let file = bench.folder.appending(path: "webhook.requests")
        try RequestFile.write(
            try (0..<Self.count).map { _ in try Self.request(areRefundRequests, bench.fixtures.chain) }, to: file)
        let before = try daemon.usage()
        let outcome = try await bench.run(
            LoadProbe(
                port: daemon.ports.webhook, requests: file.path, connections: Self.senders, seconds: Self.seconds),
            core: bench.cores.load)
        guard outcome.answers.keys.allSatisfy({ $0 == 200 }), outcome.broken == 0 else {
            throw BenchError("notifications were answered \(outcome.trouble)")
        }
        try await daemon.process.settle()
        return Sample(
            perSecond: outcome.successesPerSecond,
            cost: AnswerCost(from: before, to: try daemon.usage(), answers: Double(outcome.successes)))
    }

    /// A notification that nobody has sent yet: a test, or a request for a refund.
    static func request(_ isRefundRequest: Bool, _ chain: SigningChain) throws -> [UInt8] {
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
