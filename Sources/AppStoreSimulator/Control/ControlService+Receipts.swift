import AppStoreAPI
import Foundation
import JOSE
import JSON
import OpenSSL

/// What devices have in hand and send to the app's own server: receipts, and what StoreKit 2 gives out signed.
extension ControlService {
    static let receiptRoutes = [
        ControlRoute("POST", "/accounts/{accountId}/receipts") { service, request throws(ControlError) in
            try service.issueReceipt(ReceiptOrder(request))
        },
        ControlRoute("GET", "/transactions/{transactionId}/signed-data") { service, request throws(ControlError) in
            try service.signedData(request)
        },
    ]

    // MARK: Receipts

    private func issueReceipt(_ order: ReceiptOrder) throws(ControlError) -> OutgoingResponse {
        if let count = order.purchaseCount { try buy(until: count, order) }
        var receipt = try state.appReceipt(of: order.accountID, in: order.bundleID, purchasesFrom: order.purchasesFrom)
        try order.change(&receipt)
        let bytes: [UInt8]
        do throws(OpenSSLError) {
            bytes =
                switch order.style {
                case .transaction: transactionReceipt(of: receipt, order)
                case .unified where receipt.environment == "Xcode":
                    try receipts.xcodeReceipt(receipt, order.form)
                case .unified: try receipts.appReceipt(receipt, order.form)
                }
        } catch {
            throw .conflict(error.description)
        }
        return .json(
            201,
            [
                "style": .string(order.style.rawValue), "receipt": .string(Base64.encode(bytes)),
                "bundleId": .string(receipt.bundleID), "environment": receipt.environment.map { .string($0) } ?? .null,
                "transactionIds": .array(receipt.purchases.compactMap(\.transactionID).map { .string($0) }),
            ])
    }

    private func transactionReceipt(of receipt: IssuedReceipt, _ order: ReceiptOrder) -> [UInt8] {
        guard let purchase = receipt.purchases.first else { return [] }
        var bytes = receipts.transactionReceipt(of: purchase, in: receipt)
        order.form.tampering?.spoil(&bytes, saying: receipt)
        return bytes
    }

    /// Lets the account buy consumables until it has so many purchases in the app.
    private func buy(until count: Int, _ order: ReceiptOrder) throws(ControlError) {
        let present = try state.appReceipt(of: order.accountID, in: order.bundleID).purchases.count
        var purchase = TransactionPayload()
        purchase.bundleId = order.bundleID
        purchase.productId = order.productID ?? "\(order.bundleID).receipt"
        purchase.type = .consumable
        for _ in present..<max(present, count) { try state.buy(purchase, by: order.accountID) }
    }

    // MARK: Signed data

    private func signedData(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        for item in request.query where item.name != "tampering" {
            throw .invalid("there is no parameter \(item.name); there is tampering")
        }
        var tampering: Tampering?
        if let name = request.queryValue("tampering") {
            let names = Tampering.allCases.map(\.rawValue).joined(separator: ", ")
            guard let known = Tampering(rawValue: name) else { throw .invalid("tampering must be one of \(names)") }
            tampering = known
        }
        let now = state.clock.now
        let data = try state.withContent { content throws(ControlError) in
            DeviceData(try content.world.record(request.parameters[0]), &content, at: now.unixMilliseconds)
        }
        do throws(OpenSSLError) {
            var members: JSONObject = [:]
            for (name, payload) in data.payloads(tampering) {
                let signed =
                    if let tampering { try authority.sign(payload, at: now, tampering) } else {
                        try authority.sign(payload)
                    }
                members[name] = .string(signed)
            }
            return .json(200, .object(members))
        } catch {
            throw .conflict(error.description)
        }
    }
}

/// What StoreKit gives an app about a transaction, and what the App Store asks the app's server about it, before it is signed.
private struct DeviceData: Sendable {
    private var transaction: TransactionPayload
    private var renewalInfo: RenewalInfoPayload?
    private var appTransaction: AppTransactionPayload?
    private var realtimeRequest: RealtimeRequestPayload
    private let environment: SimulatedEnvironment

    init(_ record: TransactionRecord, _ content: inout sending SimulatorState.Content, at now: Int64) {
        environment = record.environment
        transaction = record.payload
        transaction.signedDate = now
        renewalInfo = content.world.renewalInfo(of: record, at: now)
        renewalInfo?.signedDate = now
        appTransaction = content.world.appTransaction(of: record.customer, at: now)
        realtimeRequest = RealtimeRequestPayload()
        realtimeRequest.originalTransactionId = transaction.originalTransactionId
        realtimeRequest.appAppleId = content.world.apps[record.customer.bundleID]?.appAppleID
        realtimeRequest.productId = transaction.productId
        realtimeRequest.userLocale = "en-US"
        realtimeRequest.requestIdentifier = content.outbox.uuid()
        realtimeRequest.signedDate = now
        realtimeRequest.environment = environment.wireValue
    }

    /// By Apple's names, except for the last, which Apple sends as `signedPayload`.
    func payloads(_ tampering: Tampering?) -> [(name: String, payload: [UInt8])] {
        var data = self
        switch tampering {
        case .wrongBundleId:
            data.transaction.bundleId = (transaction.bundleId ?? "") + ".other"
            data.appTransaction?.bundleId = (appTransaction?.bundleId ?? "") + ".other"
            data.realtimeRequest.appAppleId = (realtimeRequest.appAppleId ?? 0) + 1
        case .wrongEnvironment:
            data.transaction.environment = environment.other.wireValue
            data.renewalInfo?.environment = environment.other.wireValue
            data.appTransaction?.receiptType = environment.other.wireValue
            data.realtimeRequest.environment = environment.other.wireValue
        default: break
        }
        let all = [
            ("signedTransactionInfo", data.transaction.serialized()),
            ("signedRenewalInfo", data.renewalInfo?.serialized()),
            ("signedAppTransactionInfo", data.appTransaction?.serialized()),
            ("signedRealtimeRequest", data.renewalInfo == nil ? nil : data.realtimeRequest.serialized()),
        ]
        return all.compactMap { name, payload in payload.map { (name, $0) } }
    }
}
