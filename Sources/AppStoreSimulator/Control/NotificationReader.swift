import AppStoreAPI
import Foundation
import JSON

/// Reads what the control port is told to notify of.
struct NotificationReader {
    private static let allowed = [
        "bundleId", "environment", "notificationType", "subtype", "transactionId", "consumptionRequestReason",
        "status", "summary", "externalPurchaseToken", "tampering", "transactionTampering",
    ]

    private let body: ControlBody

    init(_ request: ControlRequest) throws(ControlError) { body = try request.body(Self.allowed) }

    /// The notification, with the purchase or customer that it is about as they are now.
    func draft(_ content: SimulatorState.Content, now: Int64) throws(ControlError) -> NotificationDraft {
        let type = NotificationTypeV2(rawValue: try body.requiredString("notificationType"))
        let subtype = try body.string("subtype").map { Subtype(rawValue: $0) }
        let record = try body.string("transactionId").map { id throws(ControlError) in try content.world.record(id) }
        let bundleID = try body.string("bundleId") ?? record?.customer.bundleID
        let environment = try body.environment() ?? record?.environment
        guard let bundleID, let environment else {
            throw .invalid("bundleId and environment are missing, and transactionId that would tell them")
        }
        guard (record.map { $0.customer.bundleID == bundleID && $0.environment == environment }) ?? true else {
            throw .conflict("the transaction is of another app or environment")
        }
        _ = try content.world.app(bundleID)
        var draft = NotificationDraft(
            type, subtype, of: bundleID, in: environment,
            about: try subject(type, record, content, now: now))
        draft.customer = record?.customer
        draft.tampering = try tampering("tampering")
        draft.transactionTampering = try tampering("transactionTampering")
        return draft
    }

    private func subject(
        _ type: NotificationTypeV2, _ record: TransactionRecord?, _ content: SimulatorState.Content, now: Int64
    ) throws(ControlError) -> NotificationDraft.Subject {
        if let summary = try object("summary") { return .summary(Summary(summary)) }
        if let token = try object("externalPurchaseToken") {
            return .externalPurchaseToken(ExternalPurchaseToken(token))
        }
        if type == .rescindConsent {
            guard let record else { throw .invalid("transactionId is missing: whose consent it was") }
            guard let appTransaction = content.world.appTransaction(of: record.customer, at: now) else {
                throw .conflict("the customer has no app transaction")
            }
            return .appData(appTransaction)
        }
        var subject = record.map { content.subject(of: $0, at: now) } ?? NotificationSubject()
        subject.consumptionRequestReason = try body.string("consumptionRequestReason").map {
            ConsumptionRequestReason(rawValue: $0)
        }
        if let status = try body.integer("status", in: 0...Int64(Int32.max)) {
            subject.status = SubscriptionStatus(rawValue: Int32(status))
        }
        return .data(subject)
    }

    private func object(_ name: String) throws(ControlError) -> JSONMembers? {
        guard let value = body.members[name], !value.isNull else { return nil }
        guard let object = value.object else { throw .invalid("\(name) must be an object") }
        return object
    }

    private func tampering(_ name: String) throws(ControlError) -> Tampering? {
        guard let text = try body.string(name) else { return nil }
        guard let tampering = Tampering(rawValue: text) else {
            let all = Tampering.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("\(name) must be one of \(all)")
        }
        return tampering
    }
}
