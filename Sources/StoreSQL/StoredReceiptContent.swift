import Domain
import Foundation

/// What a receipt says, as its column holds it: JSON with short names, as there may be ten thousand purchases.
struct StoredReceiptContent: Codable {
    private let style: String
    private let isVerified: Bool
    private let bundleID: String
    private let environmentName: String?
    private let createdAt: Int64?
    private let applicationVersion: String?
    private let originalApplicationVersion: String?
    private let purchases: [Purchase]

    private enum CodingKeys: String, CodingKey {
        case style = "s"
        case isVerified = "v"
        case bundleID = "b"
        case environmentName = "e"
        case createdAt = "c"
        case applicationVersion = "a"
        case originalApplicationVersion = "o"
        case purchases = "p"
    }

    init(_ content: ReceiptContent) {
        style = content.style.rawValue
        isVerified = content.isVerified
        bundleID = content.bundleID
        environmentName = content.environmentName
        createdAt = content.createdAt?.milliseconds
        applicationVersion = content.applicationVersion
        originalApplicationVersion = content.originalApplicationVersion
        purchases = content.purchases.map(Purchase.init)
    }

    /// What it says; the device was checked or not.
    var content: ReceiptContent {
        ReceiptContent(
            style: ReceiptContent.Style(rawValue: style) ?? .unified, isVerified: isVerified, bundleID: bundleID,
            environmentName: environmentName, createdAt: createdAt.map(Date.init(milliseconds:)),
            applicationVersion: applicationVersion, originalApplicationVersion: originalApplicationVersion,
            purchases: purchases.map(\.purchase))
    }

    private struct Purchase: Codable {
        let transactionID: String?
        let originalTransactionID: String?
        let productID: String?
        let quantity: Int?
        let purchaseDate: Int64?
        let originalPurchaseDate: Int64?
        let expiresDate: Int64?
        let webOrderLineItemID: String?
        let cancellationDate: Int64?
        let isInIntroductoryOfferPeriod: Bool?

        private enum CodingKeys: String, CodingKey {
            case transactionID = "t"
            case originalTransactionID = "o"
            case productID = "p"
            case quantity = "q"
            case purchaseDate = "d"
            case originalPurchaseDate = "f"
            case expiresDate = "e"
            case webOrderLineItemID = "w"
            case cancellationDate = "c"
            case isInIntroductoryOfferPeriod = "i"
        }

        init(_ purchase: ReceiptContent.Purchase) {
            transactionID = purchase.transactionID
            originalTransactionID = purchase.originalTransactionID
            productID = purchase.productID
            quantity = purchase.quantity
            purchaseDate = purchase.purchaseDate?.milliseconds
            originalPurchaseDate = purchase.originalPurchaseDate?.milliseconds
            expiresDate = purchase.expiresDate?.milliseconds
            webOrderLineItemID = purchase.webOrderLineItemID
            cancellationDate = purchase.cancellationDate?.milliseconds
            isInIntroductoryOfferPeriod = purchase.isInIntroductoryOfferPeriod
        }

        var purchase: ReceiptContent.Purchase {
            ReceiptContent.Purchase(
                transactionID: transactionID, originalTransactionID: originalTransactionID, productID: productID,
                quantity: quantity, purchaseDate: purchaseDate.map(Date.init(milliseconds:)),
                originalPurchaseDate: originalPurchaseDate.map(Date.init(milliseconds:)),
                expiresDate: expiresDate.map(Date.init(milliseconds:)), webOrderLineItemID: webOrderLineItemID,
                cancellationDate: cancellationDate.map(Date.init(milliseconds:)),
                isInIntroductoryOfferPeriod: isInIntroductoryOfferPeriod)
        }
    }
}

/// What Apple says of purchases, as its column holds it: JSON, times in milliseconds.
enum StoredApplePurchase {
    static func encoded(_ purchases: [String: ApplePurchase]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.milliseconds)
        }
        return try encoder.encode(purchases.values.sorted { $0.transactionID < $1.transactionID })
    }

    static func decoded(_ data: Data) throws -> [String: ApplePurchase] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            Date(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
        }
        let purchases = try decoder.decode([ApplePurchase].self, from: data)
        return Dictionary(purchases.map { ($0.transactionID, $0) }) { first, _ in first }
    }
}
