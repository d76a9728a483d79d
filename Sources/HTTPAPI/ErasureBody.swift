import Domain
import JSON

/// What an erasure removed, and what stays and why.
enum ErasureBody {
    static func write(_ report: ErasureReport, _ app: App, _ user: UserID, to writer: inout JSONWriter) {
        writer.member("app", app.slug)
        writer.member("user", user.value)
        writer.memberObject("erased") { writer in
            writer.member("links", report.links)
            writer.member("consentRecords", report.consentRecords)
            writer.member("deliveries", report.deliveries)
            writer.member("cases", report.cases)
            writer.member("notifications", report.notifications)
            writer.member("events", report.events)
        }
        let ended = report.cancelled + report.sending
        let isSent = { (delivery: Delivery) in delivery.state == .accepted || delivery.mayHaveReachedApple }
        DeliveryBody.writeIDs("cancelled", ended.filter { !isSent($0) }, to: &writer)
        DeliveryBody.writeIDs("mayHaveBeenSent", ended.filter(isSent), to: &writer)
        writer.memberArray("kept") { writer in
            for (what, why) in kept(report) {
                writer.object { writer in
                    writer.member("what", what)
                    writer.member("why", why)
                }
            }
        }
    }

    private static func kept(_ report: ErasureReport) -> [(what: String, why: String)] {
        var kept: [(what: String, why: String)] = []
        if report.deliveries > 0 {
            kept.append(
                (
                    "deliveries",
                    "State, times and transaction id, without user and content: the proof of what Apple was told, until `retention.deliveries` is over."
                ))
        }
        if report.cases > 0 {
            kept.append(
                ("cases", "Apple's refund requests and their outcomes, without the owner: they are about purchases."))
        }
        if report.notifications > 0 {
            kept.append(
                (
                    "notifications",
                    "What Apple signed, which names purchases, not your user; until `retention.notifications` is over."
                ))
        }
        if report.isWithdrawalKept {
            kept.append(
                (
                    "withdrawal",
                    "Keyed hashes of the user and of its identifiers, so that the erasure does not undo a withdrawal of consent."
                ))
        }
        kept.append(
            ("backups", "Backups made before hold what they held; a restored one needs the erasure once more."))
        return kept
    }
}
