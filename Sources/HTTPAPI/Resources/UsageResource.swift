import Domain
import HTTPTypes
import JSON

/// What services know of the use of purchases.
struct UsageRoutes: Sendable {
    let service: UsageService
    let tokens: PageTokenCoder

    /// `PUT …/transactions/{transactionId}/usage`.
    func put(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = TransactionRequest(&fields, app)
        let user = UsageService.user(&fields)
        let report = report(
            request.map { .transaction($0.identifier, user: user) }, of: app, environment: request?.environment, input,
            &fields)
        guard fields.isValid, let report else { throw fields.error }
        let decisions = try await service.record([report])
        guard let decision = decisions.first else {
            throw ServiceError(.internalError, "Internal error.", cause: "a report without decision")
        }
        return Answer.object(decision.isNew ? .created : .ok, capacity: UsageBody.size) { writer in
            writer.member("outcome", decision.outcome)
            writer.memberObject("usage") { UsageBody.write(decision.standing, to: &$0) }
        }
    }

    /// `POST …/usage:batch`.
    func batch(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let batch = try RequestBatch(input, "usage", atMost: UsageService.maximumBatch, takesDryRun: false)
        let read = batch.elements.map { element in
            Result { () throws(ServiceError) in
                try FieldReader.read(try RequestBatch.members(of: element)) { fields in
                    let subject = UsageService.subject(&fields)
                    let environment = fields.environment(for: app, in: .body)
                    return report(subject, of: app, environment: environment, input, &fields)
                }
            }
        }
        let decisions = try await service.record(read.compactMap { try? $0.get() })
        return batch.answer(read, decisions.map { .success($0.outcome) }, requestID: input.requestID)
    }

    /// `GET …/transactions/{transactionId}/usage`.
    func ofTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let request = try input.transaction(app)
        let (report, codes) = try await service.usage(
            app: app, transactionID: request.identifier, environment: request.environment)
        return Answer.object(capacity: UsageBody.size) { writer in
            writer.memberObject("usage") { UsageBody.write(report, to: &$0) }
            writer.memberObject("appleV1") { UsageBody.write(codes, to: &$0) }
        }
    }

    /// `GET …/users/{user}/usage`: in the order in which the first report of each purchase came.
    func ofUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let user = fields.user()
        let page = PageRequest(
            &fields, of: "usage \(user?.folded ?? "")", app, input, maximumSize: UsageService.maximumPageSize, tokens)
        guard fields.isValid, let user else { throw fields.error }
        let found = try await service.usage(
            app: app, user: user, after: try page.position { Int64($0) }, limit: page.limit)
        let (reports, next) = page.page(found) { String($0.position) }
        return Answer.object(capacity: 256 + reports.count * UsageBody.size) { writer in
            writer.memberArray("usage") { writer in
                for (_, report) in reports { writer.object { UsageBody.write(report, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// Reads what a report says.
    private func report(
        _ subject: UsageReport.Subject?, of app: App, environment: AppStoreEnvironment?, _ input: RequestInput,
        _ fields: inout FieldReader
    ) -> UsageReport? {
        let (at, accountCreatedAt) = (fields.time("at"), fields.time("accountCreatedAt"))
        return service.report(
            subject, app: app, environment: environment, at: at, accountCreatedAt: accountCreatedAt,
            caller: input.caller?.name ?? "", &fields)
    }
}

extension UsageRules.Decision {
    /// Whether nothing was known before.
    fileprivate var isNew: Bool { if case .insert = self { true } else { false } }

    /// What became of the report, in the words of our API.
    fileprivate var outcome: String {
        switch self {
        case .insert: "created"
        case .replace: "updated"
        case .keep: "unchanged"
        case .outdated: "outdated"
        }
    }
}

/// The objects of our API about usage.
enum UsageBody {
    /// Room that a report takes.
    static let size = 768

    static func write(_ report: UsageReport, to writer: inout JSONWriter) {
        writer.member("app", report.app)
        switch report.subject {
        case .transaction(let transaction, _):
            writer.member("transactionId", transaction)
            writer.memberOrNull("user", report.subject.user?.value)
            writer.memberNull("productId")
        case .product(let product, let user):
            writer.memberNull("transactionId")
            writer.member("user", user.value)
            writer.member("productId", product)
        }
        writer.memberOrNull("environment", report.environment?.rawValue)
        writer.member("at", Timestamp.text(report.at))
        write(report.facts, to: &writer)
        writer.member("recordedAt", Timestamp.text(report.recordedAt))
        writer.member("recordedBy", report.recordedBy)
    }

    private static func write(_ facts: UsageFacts, to writer: inout JSONWriter) {
        writer.memberOrNull("deliveryStatus", facts.deliveryStatus?.rawValue)
        writer.memberOrNull("consumptionPercentage", facts.consumptionPercentage)
        writer.memberOrNull("sampleContentProvided", facts.sampleContentProvided)
        writer.memberOrNull("accountCreatedAt", facts.accountCreatedAt.map(Timestamp.text))
        writer.memberOrNull("playTimeMinutes", facts.playTimeMinutes)
        writer.memberOrNull("lifetimeCentsPurchased", facts.lifetimeCentsPurchased)
        writer.memberOrNull("lifetimeCentsRefunded", facts.lifetimeCentsRefunded)
        writer.memberOrNull("platform", facts.platform)
        writer.memberOrNull("userStatus", facts.userStatus)
    }

    static func write(_ codes: UsageCodes, to writer: inout JSONWriter) {
        writer.member("accountTenure", codes.accountTenure)
        writer.member("consumptionStatus", codes.consumptionStatus)
        writer.memberOrNull("deliveryStatus", codes.deliveryStatus)
        writer.member("lifetimeDollarsPurchased", codes.lifetimeDollarsPurchased)
        writer.member("lifetimeDollarsRefunded", codes.lifetimeDollarsRefunded)
        writer.member("platform", codes.platform)
        writer.member("playTime", codes.playTime)
        writer.member("userStatus", codes.userStatus)
    }
}
