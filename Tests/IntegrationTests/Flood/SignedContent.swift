import AppStoreAPI
import AppStoreSimulator
import Foundation
import JOSE
import OpenSSL

/// What Apple signs, and what only looks like it, as bodies for the webhook.
struct SignedContent: Sendable {
    let stage: DaemonStage

    private func body(_ signed: String) -> [UInt8] { Array(#"{"signedPayload":"\#(signed)"}"#.utf8) }

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// A notification that nobody has seen, of an app's.
    private func notification(
        _ type: NotificationTypeV2, of app: String, _ data: (inout NotificationData) -> Void = { _ in }
    ) throws -> String {
        var payload = NotificationPayload()
        payload.notificationType = type
        payload.notificationUUID = UUID().uuidString.lowercased()
        payload.version = "2.0"
        payload.signedDate = now
        var subject = NotificationData()
        subject.environment = .sandbox
        subject.bundleId = DaemonStage.bundleID(of: app)
        data(&subject)
        payload.data = subject
        return try stage.simulator.authority.sign(payload.serialized())
    }

    /// A notification that asks for nothing.
    func test(of app: String = "coins") throws -> [UInt8] { body(try notification(.test, of: app)) }

    /// A purchase of a new customer of an app's, as Apple signs it.
    func purchase(of app: String = "coins") throws -> (id: String, signed: String) {
        let state = stage.simulator.state
        var order = TransactionPayload()
        order.bundleId = DaemonStage.bundleID(of: app)
        order.productId = "gems"
        order.type = .consumable
        var purchase = try state.buy(order, by: state.createAccount(in: .sandbox).id)
        purchase.signedDate = now
        return (purchase.transactionId ?? "", try stage.simulator.authority.sign(purchase.serialized()))
    }

    /// Apple asks about the consumption of a purchase.
    func consumptionRequest(about purchase: String, of app: String) throws -> [UInt8] {
        body(
            try notification(.consumptionRequest, of: app) {
                $0.signedTransactionInfo = purchase
                $0.consumptionRequestReason = .unintendedPurchase
            })
    }

    /// A purchase, sent where a notification belongs.
    func misplacedPurchase() throws -> [UInt8] { body(try purchase().signed) }

    /// Notifications with Apple's public chain in a header of their own each, whose signatures are anybody's.
    ///
    /// - Returns: one for each number.
    func forged() throws -> @Sendable (Int) -> [UInt8] {
        let parts = try notification(.test, of: "coins").split(separator: ".")
        let header = Base64URL.decode(String(parts[0])) ?? []
        let opening = String(decoding: header.dropLast(), as: UTF8.self)
        let rest = parts.dropFirst().joined(separator: ".")
        return { number in
            let forged = Base64URL.encodeBytes(Array("\(opening),\"zz\":\"\(number)\"}".utf8))
            return Array(#"{"signedPayload":""#.utf8) + forged + Array(".\(rest)\"}".utf8)
        }
    }
}
