import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport

/// One user's purchases and the internal services that talk about them: buys, has refunds requested, answers, declines,
/// cancels, changes its mind about consent, gives purchases away, and repeats whatever got no answer.
struct CrashCaller: Sendable {
    let stage: DaemonStage
    let fleet: CrashFleet
    let ledger: CrashLedger
    /// Whether callers are to come to an end.
    let stopping: OneTime<Void>
    /// Also the `appAccountToken` of what is bought.
    let user: String
    let account: String
    let seed: UInt64

    static let app = "/v1/apps/coins"
    /// How often an answer is looked for that may never come, such as a case whose notification was lost.
    static let patience = 8

    private var isStopping: Bool { stopping.now != nil }

    /// Sends consumption, one purchase after the other, until it is time to stop.
    func sendUntilStopped() async throws {
        var generator = SeededGenerator(seed: seed)
        // By this the user is known, and with it every purchase whose token it is.
        _ = try await ask("PUT", "\(Self.app)/users/\(user)/links/transactionId/\(buy(&generator))")
        while !isStopping {
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<18: try await sendByTransaction(&generator)
            case ..<30: try await answerBeforeCase(&generator)
            case ..<42: try await sendByUser(&generator)
            case ..<50: try await sendAndSetToken(&generator)
            case ..<58: try await sendAndTransfer(&generator)
            case ..<66: try await rescind(&generator)
            default: try await answerCase(&generator)
            }
        }
    }

    /// Withdraws consent and gives it again, until it is time to stop; then it is given.
    func changeConsentUntilStopped() async throws {
        var generator = SeededGenerator(seed: seed &+ 1)
        while !isStopping {
            try await ledger.moreAnswers(Int.random(in: 3..<30, using: &generator))
            try await putConsent(false, of: user)
            await stage.simulator.readSockets()
            ledger.withdraw(user)
            try await ledger.moreAnswers(Int.random(in: 1..<20, using: &generator))
            ledger.consent(user)
            try await putConsent(true, of: user)
        }
    }

    // MARK: Ways to send

    private func sendByTransaction(_ generator: inout SeededGenerator) async throws {
        let send = try begin(&generator)
        try await post("\(Self.app)/transactions/\(send.transactionID)/consumption", send, &generator)
    }

    private func sendByUser(_ generator: inout SeededGenerator) async throws {
        let send = try begin(&generator)
        try await post(
            "\(Self.app)/users/\(user)/consumption", send, &generator,
            ["transactionId": .string(send.transactionID)])
    }

    /// Has a refund requested, waits for the case and answers it in one of the ways there are.
    private func answerCase(_ generator: inout SeededGenerator) async throws {
        let transaction = try buy(&generator)
        try stage.simulator.state.requestRefund(of: transaction, reason: .unintendedPurchase)
        guard let id = try await openCase(transaction) else { return }
        let way = Int.random(in: 0..<100, using: &generator)
        if way < 15 { return try await decline(id, transaction) }
        let send = begin(transaction, &generator)
        let path =
            way < 50 ? "\(Self.app)/users/\(user)/consumption" : "\(Self.app)/cases/\(id)/consumption"
        try await post(path, send, &generator, way < 50 ? ["transactionId": .string(transaction)] : [:])
        if way.isMultiple(of: 3) { try decide(transaction, &generator) }
    }

    /// Answers before Apple's request is known here, and then has the case declined or decided.
    private func answerBeforeCase(_ generator: inout SeededGenerator) async throws {
        let send = try begin(&generator)
        let transaction = send.transactionID
        try await post("\(Self.app)/transactions/\(transaction)/consumption", send, &generator)
        try stage.simulator.state.requestRefund(of: transaction, reason: .unintendedPurchase)
        guard let id = try await openCase(transaction, orAnswered: true) else { return }
        if Bool.random(using: &generator) { return try await decline(id, transaction) }
        try decide(transaction, &generator)
    }

    private func decide(_ transaction: String, _ generator: inout SeededGenerator) throws {
        ledger.end(transaction)
        let isRefunded = Bool.random(using: &generator)
        try stage.simulator.state.decideRefund(
            of: transaction, isRefunded ? .refund(percentage: 100_000) : .decline)
    }

    // MARK: Purchases

    private func buy(_ generator: inout SeededGenerator) throws -> String {
        let id = try buy(&generator, token: user, by: account).transactionId
        guard let id else { throw DaemonStage.Failure(description: "a purchase without an id") }
        return id
    }

    func buy(_ generator: inout SeededGenerator, token: String?, by account: String) throws -> TransactionPayload {
        var purchase = TransactionPayload()
        purchase.bundleId = DaemonStage.bundleID
        purchase.productId = "gems.\(Int.random(in: 1...5, using: &generator))"
        purchase.type = .consumable
        purchase.appAccountToken = token
        return try stage.simulator.state.buy(purchase, by: account)
    }

    private func begin(_ generator: inout SeededGenerator) throws -> CrashEvidence.Send {
        begin(try buy(&generator), &generator)
    }

    /// Draws what Apple is to get, so that no two answers are alike.
    ///
    /// `holder`: whose withdrawals stand against it in the end; nil for the user's own.
    func begin(
        _ transaction: String, _ generator: inout SeededGenerator, of holder: String? = nil
    ) -> CrashEvidence.Send {
        let isShort = Int.random(in: 0..<10, using: &generator) < 3
        // In whole milliseconds, as it goes over the wire.
        let later =
            Int64(Date().timeIntervalSince1970 * 1000) + Int64.random(in: 300...6000, using: &generator)
        let send = CrashEvidence.Send(
            transactionID: transaction,
            fields: [
                "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
                "consumptionPercentage": .number(
                    JSONNumber(Int64.random(in: 0...100_000, using: &generator))),
            ], deadline: isShort ? Date(timeIntervalSince1970: Double(later) / 1000) : nil)
        ledger.begin(send, of: holder ?? user)
        return send
    }

    // MARK: Requests

    /// Makes a request as often as it takes to be answered.
    func ask(
        _ method: String, _ target: String, _ headers: [String: String] = [:], body: JSONValue? = nil,
        as caller: String = "billing"
    ) async throws -> LocalClient.Reply {
        while true {
            let reply = await (try await fleet.serving()).api(caller).send(method, target, headers, body: body)
            // Whoever is told that the store is away asks again, under the same key.
            if let reply, !reply.tellsOfStoreAway {
                ledger.noteAnswer()
                return reply
            }
            ledger.noteRepetition()
        }
    }

    /// Sends consumption, under one key however often it takes.
    func post(
        _ path: String, _ send: CrashEvidence.Send, _ generator: inout SeededGenerator,
        _ more: [String: JSONValue] = [:]
    ) async throws {
        var body = send.fields.object ?? JSONObject()
        for (name, value) in more { body[name] = value }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        body["deadline"] = send.deadline.map { .string($0.formatted(style)) }
        let waits = ["respond-async", "respond-async", "wait=1"]
        let headers = [
            "Idempotency-Key": UUID().uuidString,
            "Prefer": waits[Int.random(in: 0..<3, using: &generator)],
        ]
        let caller = ["billing", "game"][Int.random(in: 0..<2, using: &generator)]
        let reply = try await ask("POST", path, headers, body: .object(body), as: caller)
        let answer = CrashEvidence.Answer(reply)
        await stage.simulator.readSockets()
        ledger.answer(answer, about: send.transactionID)
        guard let id = answer.deliveryID, Int.random(in: 0..<100, using: &generator) < 15 else {
            return
        }
        ledger.end(send.transactionID)
        let cancelled = try await ask("POST", "\(Self.app)/deliveries/\(id):cancel", as: "support")
        if cancelled.status == 200, cancelled.json?["state"] == "cancelled" {
            await stage.simulator.readSockets()
            ledger.stop(.decision, [send.transactionID])
        }
    }

    /// The id of a transaction's open case; nil if none comes.
    private func openCase(_ transaction: String, orAnswered: Bool = false) async throws -> String? {
        let states = orAnswered ? "" : "state=open&"
        var cursor =
            try await ask("GET", "\(Self.app)/events?wait=0&limit=1").json?["cursor"]?.string ?? "0"
        for _ in 0..<Self.patience where !isStopping {
            let cases = try await ask("GET", "\(Self.app)/cases?\(states)transactionId=\(transaction)")
                .json?["cases"]
            if let id = cases?[0]?["id"]?.string { return id }
            let events = try await ask("GET", "\(Self.app)/events?after=\(cursor)&wait=1").json
            cursor = events?["cursor"]?.string ?? cursor
        }
        return nil
    }

    private func decline(_ id: String, _ transaction: String) async throws {
        ledger.end(transaction)
        let reply = try await ask(
            "POST", "\(Self.app)/cases/\(id):decline", body: ["note": "asked not to"], as: "support")
        guard reply.status == 200 else { return }
        await stage.simulator.readSockets()
        ledger.stop(.decision, [transaction])
    }

    func putConsent(_ isConsented: Bool, of user: String, isByGuardian: Bool = false) async throws {
        let body: JSONValue = [
            "consented": .bool(isConsented), "source": "settings", "guardian": .bool(isByGuardian),
        ]
        try await insist("PUT", "\(Self.app)/users/\(user)/consent", body: body)
    }

    /// Makes a request as often as it takes to succeed, through whatever goes wrong.
    func insist(_ method: String, _ target: String, body: JSONValue? = nil) async throws {
        try await Wait.until("\(method) \(target) to succeed") {
            (200..<300).contains(try await ask(method, target, body: body, as: "support").status)
        }
    }
}

extension LocalClient.Reply {
    /// Whether the store cannot be used at present, so that nobody knows what became of the request.
    var tellsOfStoreAway: Bool { status == 503 && json?["reason"] == "STORE_UNAVAILABLE" }
}

extension CrashEvidence.Answer {
    /// What an answer to a request to send tells: the delivery itself, or a problem that may be about one.
    init(_ reply: LocalClient.Reply) {
        let json = reply.json
        let delivery = (200..<300).contains(reply.status) ? json : json?["delivery"]
        self.init(
            status: reply.status, deliveryID: delivery?["id"]?.string, state: delivery?["state"]?.string,
            reason: json?["reason"]?.string)
    }
}
