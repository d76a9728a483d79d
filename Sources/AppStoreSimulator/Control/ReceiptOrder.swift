import Foundation
import OpenSSL

/// Which receipt the control port is asked for.
struct ReceiptOrder: Sendable {
    /// Devices had one for each transaction before there was one for the app.
    enum Style: String, Sendable, CaseIterable {
        case unified
        case transaction
    }

    /// The most purchases that an account can be made to have.
    private static let largestPurchaseCount: Int64 = 100_000

    private static let fields = [
        "bundleId", "style", "transactionId", "purchases", "productId", "environment", "creationDate",
        "applicationVersion", "deviceIdentifier", "digest", "signedAttributes", "encoding", "statedBundleId",
        "purchasesFrom", "unknownTransactions", "tampering",
    ]

    let accountID: String
    let bundleID: String
    let style: Style
    /// The only purchase in it; nil for all.
    let transactionID: String?
    /// How many purchases the account has at least.
    let purchaseCount: Int?
    /// What is bought until there are so many.
    let productID: String?
    let purchasesFrom: String?
    let form: ReceiptForm
    private let environment: String?
    private let creationDate: Int64?
    private let applicationVersion: String?
    private let deviceIdentifier: UUID?
    private let statedBundleID: String?
    private let makesTransactionsUnknown: Bool

    init(_ request: ControlRequest) throws(ControlError) {
        let body = try request.body(Self.fields)
        accountID = request.parameters[0]
        bundleID = try body.requiredString("bundleId")
        style = try Self.value("style", in: body) ?? .unified
        transactionID = try body.string("transactionId")
        purchaseCount = try body.integer("purchases", in: 0...Self.largestPurchaseCount)
        productID = try body.string("productId")
        purchasesFrom = try body.string("purchasesFrom")
        environment = try body.string("environment")
        creationDate = try body.integer("creationDate")
        applicationVersion = try body.string("applicationVersion")
        statedBundleID = try body.string("statedBundleId")
        makesTransactionsUnknown = try body.bool("unknownTransactions") ?? false
        deviceIdentifier = try Self.uuid("deviceIdentifier", in: body)
        form = try Self.form(body)
        guard style == .unified || transactionID != nil else {
            throw .invalid("transactionId is missing, of which the receipt is to be")
        }
        guard style == .unified || form.tampering == nil || form.tampering == .truncated else {
            throw .invalid("nobody can verify transaction receipts; tampering must be truncated")
        }
        let environments = ["Production", "ProductionSandbox", "Sandbox", "Xcode"]
        if let environment, !environments.contains(environment) {
            throw .invalid("environment must be one of \(environments.joined(separator: ", "))")
        }
    }

    private static func form(_ body: ControlBody) throws(ControlError) -> ReceiptForm {
        var form = ReceiptForm(try value("digest", in: body) ?? .sha256)
        form.hasSignedAttributes = try body.bool("signedAttributes") ?? form.hasSignedAttributes
        form.tampering = try value("tampering", in: body)
        switch try body.string("encoding") {
        case nil, "DER": form.encoding = .der
        case "indefiniteLengths": form.encoding = .indefiniteLengths
        default: throw .invalid("encoding must be DER or indefiniteLengths")
        }
        return form
    }

    /// One of a few words.
    private static func value<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, in body: ControlBody
    ) throws(ControlError) -> Value? {
        guard let text = try body.string(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .invalid("\(name) must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    private static func uuid(_ name: String, in body: ControlBody) throws(ControlError) -> UUID? {
        guard let text = try body.string(name) else { return nil }
        guard let uuid = UUID(uuidString: text) else { throw .invalid("\(name) must be a UUID") }
        return uuid
    }

    /// Makes a receipt say what is asked for.
    ///
    /// - Throws: ``ControlError/notFound(_:)`` for a transaction that is not in it.
    func change(_ receipt: inout IssuedReceipt) throws(ControlError) {
        if let environment { receipt.environment = environment }
        if let creationDate { receipt.creationDate = Date(timeIntervalSince1970: Double(creationDate) / 1000) }
        if let applicationVersion { receipt.applicationVersion = applicationVersion }
        if let statedBundleID { receipt.bundleID = statedBundleID }
        if let deviceIdentifier { receipt.deviceIdentifier = withUnsafeBytes(of: deviceIdentifier.uuid, Array.init) }
        if let transactionID {
            receipt.purchases.removeAll { $0.transactionID != transactionID }
            if receipt.purchases.isEmpty {
                throw .notFound("the account has no transaction \(transactionID) in the app")
            }
        }
        guard makesTransactionsUnknown else { return }
        for index in receipt.purchases.indices {
            // One digit more than any of Apple's has.
            receipt.purchases[index].transactionID? += "9"
            receipt.purchases[index].originalTransactionID? += "9"
        }
    }
}
