import Domain
import HTTPTypes
import JSON

/// What users agreed to, and their erasure.
struct ConsentRoutes: Sendable {
    let service: ConsentService

    /// `PUT …/users/{user}/consent`.
    func record(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let user = fields.user()
        let isConsented = fields.boolean("consented")
        let source = fields.text("source", bytes: 1...ConsentService.maximumSourceBytes)
        let time = fields.time("at")
        let wording = fields.text("wordingVersion", isRequired: false, bytes: 1...ConsentService.maximumSourceBytes)
        let locale = fields.string(
            "locale", isRequired: false,
            expected: "a language tag of at most \(LanguageTag.maximumBytes) bytes, such as `de` or `de-CH` (RFC 5646)",
            where: LanguageTag.isWellFormed)
        let isByGuardian = fields.boolean("guardian", isRequired: false)
        guard fields.isValid, let user, let isConsented, let source else { throw fields.error }
        let outcome = try await service.record(
            app: app, user: user, isConsented: isConsented, source: source, at: time, wordingVersion: wording,
            locale: locale, isByGuardian: isByGuardian ?? false, caller: input.caller?.name ?? "")
        return Answer.object { writer in
            ConsentBody.write(outcome.record, to: &writer)
            DeliveryBody.writeIDs("cancelled", outcome.cancelled, to: &writer)
            DeliveryBody.writeIDs("mayHaveBeenSent", outcome.mayHaveBeenSent, to: &writer)
        }
    }

    /// `GET …/users/{user}/consent`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try input.user()
        let history = try await service.history(app: app, user: user)
        return Answer.object { writer in
            writer.member("app", app.slug)
            writer.member("user", user.value)
            ConsentBody.writeCurrent(history, to: &writer)
            writer.memberArray("history") { writer in
                for record in history { writer.object { ConsentBody.write(record, to: &$0) } }
            }
        }
    }

    /// `GET …/users/{user}/auditPseudonym`, for operators.
    func auditPseudonym(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try input.user()
        let pseudonym = try await service.auditPseudonym(app: app, user: user)
        return Answer.object { $0.memberOrNull("pseudonym", pseudonym) }
    }

    /// `DELETE …/users/{user}`.
    func erase(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try input.user()
        let report = try await service.erase(app: app, user: user, by: input.actor)
        return Answer.object(capacity: 1024) { ErasureBody.write(report, app, user, to: &$0) }
    }
}

/// The objects of our API about a user's consent.
enum ConsentBody {
    /// What a user said.
    static func write(_ record: ConsentRecord, to writer: inout JSONWriter) {
        writer.member("app", record.app)
        writer.member("user", record.user.value)
        writer.member("consented", record.isConsented)
        writer.member("source", record.source)
        writer.member("at", Timestamp.text(record.at))
        writer.member("recordedAt", Timestamp.text(record.recordedAt))
        writer.member("recordedBy", record.recordedBy)
        writer.memberOrNull("wordingVersion", record.wordingVersion)
        writer.memberOrNull("locale", record.locale)
        writer.member("guardian", record.isByGuardian)
    }

    /// Writes the member `guardianRescissions`: what guardians took back and nobody has lifted since.
    static func write(_ rescissions: [GuardianRescission], to writer: inout JSONWriter) {
        writer.memberArray("guardianRescissions") { writer in
            for rescission in rescissions {
                writer.object { writer in
                    writer.member("environment", rescission.environment.rawValue)
                    writer.member("at", Timestamp.text(rescission.at))
                }
            }
        }
    }

    /// Writes the member `consent`: the record that decides.
    static func writeCurrent(_ history: [ConsentRecord], to writer: inout JSONWriter) {
        if let record = history.last {
            writer.memberObject("consent") { write(record, to: &$0) }
        } else {
            writer.memberNull("consent")
        }
    }
}

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
            writer.member("receipts", report.receipts)
            writer.member("usage", report.usage)
            writer.member("appleAnswers", report.answers)
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
                    "What Apple told about purchases, without token and signed forms; until `retention.notifications` is over."
                ))
        }
        if report.receipts > 0 {
            kept.append(
                (
                    "receipts",
                    "What receipts and Apple say of purchases, without whom they were sent for and what was sent with them; until `retention.receipts` is over."
                ))
        }
        if report.isWithdrawalKept {
            kept.append(
                (
                    "withdrawal",
                    "Keyed hashes of the user and of its identifiers, so that the erasure does not undo a withdrawal of consent."
                ))
        }
        if report.isRescissionKept {
            kept.append(
                (
                    "guardianRescission",
                    "A keyed hash of an Apple Account for which a guardian rescinded consent, so that nothing is sent about it."
                ))
        }
        kept.append(
            ("backups", "Backups made before hold what they held; a restored one needs the erasure once more."))
        return kept
    }
}
