import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

/// Everything that is kept of a user, for the user.
struct UserExportRoutes: Sendable {
    let service: UserExportService
    let receipts: ReceiptService

    /// `GET …/users/{user}:export`: written as it is read, so that no more than a page of records is in memory.
    ///
    /// What is found at once is found before the status is sent; a failure later on closes the answer with `complete: false` and
    /// the problem.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try input.user()
        let export = try await service.export(app: app, user: user, by: input.actor)
        let body = UserExportBody(app: app, receipts: receipts, requestID: input.requestID)
        return Answer(
            status: .ok, contentType: Answer.json,
            body: .stream { output in try await body.write(export, to: &output) })
    }
}

/// The answer with everything that is kept of a user.
private struct UserExportBody: Sendable {
    /// Room for what is usual of a page, in bytes.
    private static let capacity = 64 << 10

    let app: App
    let receipts: ReceiptService
    let requestID: String

    @concurrent func write(_ export: UserExport, to output: inout any ResponseBodyWriter) async throws {
        var writer = JSONWriter(capacity: Self.capacity)
        writer.beginObject()
        writeHead(export, to: &writer)
        var withheld = 0
        var failure: ServiceError?
        parts: for part in UserInventory.Part.allCases {
            var count = 0
            while true {
                let page: UserExport.Page?
                do throws(ServiceError) {
                    page = try await export.page(of: part, behind: count)
                } catch {
                    failure = error
                    if count > 0 { writer.endArray() }
                    break parts
                }
                // Not before it is read: a part of which nothing could be read is not there, and does not look empty.
                if count == 0 {
                    writer.name(part.rawValue)
                    writer.beginArray()
                }
                guard let page else { break }
                for record in page.records { writer.object { write(record, to: &$0) } }
                withheld += page.withheld
                count += part.pageSize
                try await output.write(ByteBuffer(bytes: writer.takeBytes()))
            }
            writer.endArray()
        }
        writer.member("withheld", withheld)
        writer.member("complete", failure == nil)
        if let failure { ProblemResponse.writeMember(failure, requestID: requestID, to: &writer) }
        writer.endObject()
        try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        try await output.finish(nil)
    }

    /// What is small, and how many records follow.
    private func writeHead(_ export: UserExport, to writer: inout JSONWriter) {
        let inventory = export.inventory
        writer.member("app", export.app)
        writer.member("user", export.user.value)
        writer.member("takenAt", Timestamp.text(export.takenAt))
        writer.memberArray("auditPseudonyms") { writer in
            for pseudonym in inventory.auditPseudonyms { writer.value(pseudonym) }
        }
        writer.memberOrNull("erasedWithdrawalKept", inventory.isErasedWithdrawalKept)
        if let rescissions = inventory.rescissions {
            ConsentBody.write(rescissions, to: &writer)
        } else {
            writer.memberNull("guardianRescissions")
        }
        writer.memberObject("counts") { writer in
            for part in UserInventory.Part.allCases { writer.member(part.rawValue, inventory.keys[part]?.count ?? 0) }
        }
        writer.memberArray("appAccountTokens") { writer in
            for token in inventory.purchaseTokens { writer.object { Self.write(token, to: &$0) } }
        }
        writer.memberArray("idempotencyKeys") { writer in
            for key in inventory.idempotencyKeys {
                writer.object { writer in
                    writer.member("caller", key.caller)
                    writer.member("route", key.route)
                    writer.member("key", key.key)
                }
            }
        }
        writer.memberArray("receiptPurchases") { writer in
            for identifier in inventory.receiptPurchases { writer.value(identifier) }
        }
    }

    private static func write(_ token: UserInventory.PurchaseToken, to writer: inout JSONWriter) {
        writer.member("appAccountToken", token.appAccountToken)
        writer.member("environment", token.environment.rawValue)
        writer.member("transactionId", token.transactionID)
        writer.member("source", token.isAccepted ? "accepted" : "signed")
        writer.member("at", Timestamp.text(token.at))
    }

    /// A record as its own routes show it, and what they leave out.
    private func write(_ record: UserRecord, to writer: inout JSONWriter) {
        switch record {
        case .link(let link): LinkBody.write(link, to: &writer)
        case .consent(let record): ConsentBody.write(record, to: &writer)
        case .usage(let report): UsageBody.write(report, to: &writer)
        case .refundCase(let refundCase): CaseBody.write(refundCase, at: .unknown, to: &writer)
        case .delivery(let delivery): DeliveryBody.write(delivery, to: &writer)
        case .notification(let stored): NotificationBody.write(stored, includesSigned: true, to: &writer)
        case .answer(let answer): Self.write(answer, to: &writer)
        case .quarantined(let notification): Self.write(notification, to: &writer)
        case .receipt(let receipt):
            ReceiptBody.write(receipt, of: app, receipts, to: &writer)
            writer.memberOrNull("country_code", receipt.countryCode)
            writer.memberOrNull("identifier_for_vendor", receipt.identifierForVendor?.uuidString)
            writer.memberOrNull("receipt", receipt.raw.map { Data($0).base64EncodedString() })
        case .event(let event): EventBody.writeRecord(event, to: &writer)
        }
    }

    private static func write(_ answer: AppleAnswer, to writer: inout JSONWriter) {
        TransactionBody.write(answer.transaction, includesSigned: true, to: &writer)
        writer.memberOrNull("status", answer.standing?.status.rawValue)
        writer.memberOrNull("subscriptionGroupIdentifier", answer.standing?.subscriptionGroupIdentifier)
        if let renewalInfo = answer.standing?.renewalInfo {
            writer.memberRaw("renewalInfo", renewalInfo.payload)
            writer.member("signedRenewalInfo", renewalInfo.signed)
        } else {
            writer.memberNull("renewalInfo")
            writer.memberNull("signedRenewalInfo")
        }
    }

    /// What it says of itself is not verified.
    private static func write(_ notification: QuarantinedNotification, to writer: inout JSONWriter) {
        let claims = notification.claims
        writer.memberOrNull("notificationUUID", claims.notificationUUID)
        writer.memberOrNull("environment", claims.environment?.rawValue)
        for kind in LinkTarget.Kind.allCases {
            writer.memberOrNull(kind.rawValue, claims.identifiers.first { $0.kind == kind }?.value)
        }
        writer.member("fault", notification.fault)
        writer.member("source", notification.source.rawValue)
        writer.member("receivedAt", Timestamp.text(notification.receivedAt))
        writer.member("keptUntil", Timestamp.text(notification.keptUntil))
        writer.member("verified", false)
        writer.member("signedPayload", notification.signed)
    }
}
