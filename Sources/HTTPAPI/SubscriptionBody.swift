import Domain
import JSON

/// The subscription object of our API: Apple's decoded payloads, spliced in byte for byte.
enum SubscriptionBody {
    static func write(_ entry: GroupedSubscription, includesSigned: Bool, to writer: inout JSONWriter) {
        let subscription = entry.subscription
        writer.member("status", subscription.status.rawValue)
        writer.member("subscriptionGroupIdentifier", entry.subscriptionGroupIdentifier)
        writer.member("originalTransactionId", subscription.originalTransactionID)
        writer.memberRaw("transaction", subscription.transaction.payload)
        writer.memberRaw("renewalInfo", subscription.renewalInfo.payload)
        writer.member("environment", subscription.transaction.environment.rawValue)
        writer.member("verified", true)
        guard includesSigned else { return }
        writer.member("signedTransactionInfo", subscription.transaction.signed)
        writer.member("signedRenewalInfo", subscription.renewalInfo.signed)
    }

    /// Writes a member that is an array of subscriptions.
    static func write(
        _ name: String, _ entries: [GroupedSubscription], includesSigned: Bool, to writer: inout JSONWriter
    ) {
        writer.memberArray(name) { writer in
            for entry in entries { writer.object { write(entry, includesSigned: includesSigned, to: &$0) } }
        }
    }

    /// The capacity that an answer with these subscriptions needs.
    static func capacity(_ entries: [GroupedSubscription], includesSigned: Bool) -> Int {
        entries.reduce(512) { size, entry in
            let (transaction, renewal) = (entry.subscription.transaction, entry.subscription.renewalInfo)
            let signed = includesSigned ? transaction.signed.utf8.count + renewal.signed.utf8.count : 0
            return size + 256 + transaction.payload.count + renewal.payload.count + signed
        }
    }
}
