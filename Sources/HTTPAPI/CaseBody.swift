import Domain
import Foundation
import JSON

/// The case object of our API.
enum CaseBody {
    /// Room that a case takes.
    static let size = 1024

    /// `now`: tells how much time is left.
    static func write(_ refundCase: RefundCase, now: Date, to writer: inout JSONWriter) {
        writeSummary(refundCase, to: &writer)
        writer.member("app", refundCase.app)
        writer.memberOrNull("owner", refundCase.owner?.value)
        writer.member("secondsLeft", secondsLeft(until: refundCase.deadline, now: now))
        writer.member("requestedAt", Timestamp.text(refundCase.requestedAt))
        writer.member("openedAt", Timestamp.text(refundCase.openedAt))
        writer.memberObject("purchase") { write(refundCase.purchase, to: &$0) }
        writer.memberArray("reminders") { writer in
            for request in refundCase.requests.dropFirst() { write(request, to: &writer) }
        }
        if let decline = refundCase.decline {
            writer.memberObject("decline") { writer in
                writer.member("caller", decline.caller)
                writer.memberOrNull("note", decline.note)
                writer.member("at", Timestamp.text(decline.at))
            }
        } else {
            writer.memberNull("decline")
        }
        writer.memberOrNull("outcome", refundCase.outcome?.rawValue)
        writer.memberOrNull("decidedAt", refundCase.decidedAt.map(Timestamp.text))
    }

    /// What a problem tells of a case, so that its reader can pick one.
    static func writeSummary(_ refundCase: RefundCase, to writer: inout JSONWriter) {
        writer.member("id", refundCase.id)
        writer.member("state", refundCase.state.rawValue)
        writer.member("transactionId", refundCase.transactionID)
        writer.member("environment", refundCase.environment.rawValue)
        writer.member("deadline", Timestamp.text(refundCase.deadline))
        writer.memberOrNull("reason", refundCase.reason)
    }

    /// Whole seconds, rounded down so that nobody counts on more; none after the deadline.
    private static func secondsLeft(until deadline: Date, now: Date) -> Int64 {
        max(0, Int64(deadline.timeIntervalSince(now).rounded(.down)))
    }

    private static func write(_ purchase: PurchaseFacts, to writer: inout JSONWriter) {
        writer.member("originalTransactionId", purchase.originalTransactionID)
        writer.memberOrNull("appTransactionId", purchase.appTransactionID)
        writer.memberOrNull("appAccountToken", purchase.appAccountToken)
        writer.memberOrNull("productId", purchase.productID)
        writer.memberOrNull("type", purchase.productType?.rawValue)
        writer.member("purchaseDate", Timestamp.text(purchase.purchaseDate))
    }

    private static func write(_ request: RefundCase.Request, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationUUID", request.notificationUUID)
            writer.member("signedAt", Timestamp.text(request.signedAt))
            writer.member("receivedAt", Timestamp.text(request.receivedAt))
            writer.memberOrNull("reason", request.reason)
        }
    }
}
