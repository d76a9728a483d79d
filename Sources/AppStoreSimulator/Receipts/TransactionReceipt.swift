import Foundation
import JOSE

/// The receipt of a single transaction, as devices had it before app receipts: a property list in a property list.
///
/// Its signature is of another chain, expired long ago, and nobody can verify it today; here it is bytes that mean nothing.
struct TransactionReceipt: Sendable {
    /// The app, its environment and creation date.
    let receipt: IssuedReceipt
    let purchase: IssuedPurchase

    /// The text; apps send it in Base64.
    var encoded: [UInt8] {
        let information = Array(Self.propertyList(fields).utf8)
        var members = [
            ("signature", Base64.encode(Self.signature(of: information))),
            ("purchase-info", Base64.encode(information)),
        ]
        // Production leaves it out, and there was one word for the sandbox.
        if let environment = receipt.environment, environment != "Production" {
            members.append(("environment", environment == "ProductionSandbox" ? "Sandbox" : environment))
        }
        members += [("pod", "100"), ("signing-status", "0")]
        return Array(Self.propertyList(members).utf8)
    }

    private var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String?)] = [
            ("bid", receipt.bundleID), ("bvrs", receipt.applicationVersion),
            ("item-id", receipt.appAppleID.map(String.init)), ("product-id", purchase.productID),
            ("quantity", purchase.quantity.map(String.init)), ("transaction-id", purchase.transactionID),
            ("original-transaction-id", purchase.originalTransactionID),
            ("web-order-line-item-id", purchase.webOrderLineItemID.map(String.init)),
            ("is-in-intro-offer-period", purchase.isInIntroductoryOfferPeriod.map { $0 ? "true" : "false" }),
        ]
        for (name, date) in [
            ("purchase-date", purchase.purchaseDate), ("original-purchase-date", purchase.originalPurchaseDate),
            ("cancellation-date", purchase.cancellationDate),
        ] {
            fields += [(name, date.map(Self.text)), (name + "-ms", date.map(Self.milliseconds))]
        }
        // This one alone is in milliseconds under its own name.
        fields += [
            ("expires-date", purchase.expirationDate.map(Self.milliseconds)),
            ("expires-date-formatted", purchase.expirationDate.map(Self.text)),
        ]
        return fields.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func milliseconds(_ date: Date) -> String { String(date.unixMilliseconds) }

    /// Such as `2012-04-30 15:05:55 Etc/GMT`.
    private static func text(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        ) + " Etc/GMT"
    }

    private static func propertyList(_ members: [(name: String, value: String)]) -> String {
        let lines = members.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\t\"\(name)\" = \"\(escaped)\";\n"
        }
        return "{\n\(lines.joined())}"
    }

    /// A version, and bytes that come out the same for the same content.
    private static func signature(of content: [UInt8]) -> [UInt8] {
        var seed: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in content { seed = (seed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        var generator = SeededGenerator(seed: seed)
        return [3] + (0..<256).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension ReceiptIssuer {
    /// Issues the receipt of a single transaction.
    ///
    /// - Parameters:
    ///   - purchase: the transaction.
    ///   - receipt: the app and its environment; its purchases are not looked at.
    /// - Returns: The text; apps send it in Base64.
    package func transactionReceipt(of purchase: IssuedPurchase, in receipt: IssuedReceipt) -> [UInt8] {
        TransactionReceipt(receipt: receipt, purchase: purchase).encoded
    }
}
