import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport

// Facts that change whose a purchase is, or who may be heard about it, while an answer is on its way. Each story has customers
// and an Apple Account of its own.

extension CrashCaller {
    /// Gives a purchase that names nobody to somebody by its token, who then withdraws.
    func sendAndSetToken(_ generator: inout SeededGenerator) async throws {
        let holder = Self.user(&generator)
        let send = try begin(nobodys(&generator), &generator, of: holder)
        let target = "\(Self.app)/transactions/\(send.transactionID)"
        let isSentFirst = Bool.random(using: &generator)
        if isSentFirst { try await post("\(target)/consumption", send, &generator) }
        try await insist("PUT", "\(target)/appAccountToken", body: ["appAccountToken": .string(holder)])
        if !isSentFirst { try await post("\(target)/consumption", send, &generator) }
        try await withdraw(holder, about: send)
        ledger.noteFact("tokens")
    }

    /// Sends on behalf of one user, to whom the purchase is linked, and transfers the link to another one, who withdraws.
    func sendAndTransfer(_ generator: inout SeededGenerator) async throws {
        let (first, second) = (Self.user(&generator), Self.user(&generator))
        let send = try begin(nobodys(&generator), &generator, of: second)
        let link = "links/transactionId/\(send.transactionID)"
        try await insist("PUT", "\(Self.app)/users/\(first)/\(link)")
        if Bool.random(using: &generator) {
            try await post(
                "\(Self.app)/users/\(first)/consumption", send, &generator,
                ["transactionId": .string(send.transactionID)])
        } else {
            try await post("\(Self.app)/transactions/\(send.transactionID)/consumption", send, &generator)
        }
        // What names the first user ends when the purchase is another's.
        ledger.end(send.transactionID)
        try await insist("PUT", "\(Self.app)/users/\(second)/\(link)?transfer=true")
        try await withdraw(second, about: send)
        ledger.noteFact("transfers")
    }

    private func withdraw(_ holder: String, about send: CrashEvidence.Send) async throws {
        ledger.end(send.transactionID)
        try await putConsent(false, of: holder)
        await stage.simulator.readSockets()
        ledger.withdraw(holder)
    }

    /// Has a guardian rescind consent for an Apple Account with an answer on its way, sends another one, and has the guardian
    /// consent again.
    func rescind(_ generator: inout SeededGenerator) async throws {
        let environment: SimulatedEnvironment = Bool.random(using: &generator) ? .production : .sandbox
        let account = try stage.simulator.state.createAccount(in: environment).id
        let bought = try (0..<3).map { _ in try buy(&generator, token: nil, by: account) }
        let ids = bought.compactMap(\.transactionId)
        guard ids.count == 3, let child = bought[0].appTransactionId else {
            throw DaemonStage.Failure(description: "a purchase without an id")
        }
        let holder = Self.user(&generator)
        try await insist("PUT", "\(Self.app)/users/\(holder)/links/appTransactionId/\(child)")
        let first = begin(ids[0], &generator, of: holder)
        try await post("\(Self.app)/transactions/\(ids[0])/consumption", first, &generator)
        ledger.end(ids[0])
        guard try await tellRescission(of: child, environment, to: holder) else { return }
        let known = Date()
        let second = begin(ids[1], &generator, of: holder)
        try await post("\(Self.app)/transactions/\(ids[1])/consumption", second, &generator)
        if let idle = try await endOfSending(ids[0]) { ledger.stop(.rescission, [ids[0]], from: idle) }
        ledger.stop(.rescission, [ids[1]], from: known, until: Date())
        try await putConsent(true, of: holder, isByGuardian: true)
        let third = begin(ids[2], &generator, of: holder)
        try await post("\(Self.app)/transactions/\(ids[2])/consumption", third, &generator)
        ledger.noteFact("rescissions")
    }

    /// Has Apple tell of a rescission.
    ///
    /// - Returns: whether the daemon has applied it; it may have been killed when Apple told it.
    private func tellRescission(
        of child: String, _ environment: SimulatedEnvironment, to holder: String
    ) async throws -> Bool {
        var appTransaction = AppTransactionPayload()
        appTransaction.bundleId = DaemonStage.bundleID
        appTransaction.appTransactionId = child
        if environment == .production { appTransaction.appAppleId = 42 }
        appTransaction.receiptType = environment == .production ? .production : .sandbox
        var cursor = try await ask("GET", "\(Self.app)/events?wait=0&limit=1").json?["cursor"]?.string ?? "0"
        try stage.simulator.state.notify(
            NotificationDraft(
                .rescindConsent, of: DaemonStage.bundleID, in: environment, about: .appData(appTransaction)))
        for _ in 0..<Self.patience {
            let page = try await ask("GET", "\(Self.app)/events?after=\(cursor)&wait=1").json
            cursor = page?["cursor"]?.string ?? cursor
            let isTold = page?["events"]?.array?.contains { event in
                event["type"] == "purser.guardianConsentRescinded" && event["data"]?["user"] == .string(holder)
            }
            if isTold == true { return true }
        }
        return false
    }

    /// When nothing about a transaction was being sent any more; nil if that does not come soon.
    private func endOfSending(_ transaction: String) async throws -> Date? {
        for _ in 0..<Self.patience {
            let known = try await ask("GET", "\(Self.app)/deliveries?transactionId=\(transaction)").json?["deliveries"]
            if let known = known?.array, !known.contains(where: { $0["state"] == "sending" }) {
                await stage.simulator.readSockets()
                return Date()
            }
            _ = try await ask("GET", "\(Self.app)/events?wait=1&limit=1")
        }
        return nil
    }

    // MARK: Who and what

    /// A purchase of a new Apple Account, without a token.
    private func nobodys(_ generator: inout SeededGenerator) throws -> String {
        let environment: SimulatedEnvironment = Bool.random(using: &generator) ? .production : .sandbox
        let account = try stage.simulator.state.createAccount(in: environment).id
        guard let id = try buy(&generator, token: nil, by: account).transactionId else {
            throw DaemonStage.Failure(description: "a purchase without an id")
        }
        return id
    }

    /// The id of a new user, a UUID so that it can be a token.
    private static func user(_ generator: inout SeededGenerator) -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
            .map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
            .joined(separator: "-")
    }
}
