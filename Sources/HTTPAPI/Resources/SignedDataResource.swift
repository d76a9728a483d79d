import Domain
import JSON

/// What apps were given by StoreKit.
struct SignedDataRoutes: Sendable {
    let service: SignedDataService

    /// `POST …/signedData:verify`.
    func verify(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let items = SignedDataService.items(&fields)
        let user = fields.holds("user") ? fields.user(in: .body) : nil
        let isConfirmed = fields.flag("confirm")
        guard fields.isValid, let items else { throw fields.error }
        // The route's own scope is enough to verify; whoever names a user says whose the purchases are.
        if user != nil { try input.caller?.require(.linksWrite, for: app.slug) }
        let entries = try await service.verify(
            items, user: user, isConfirmed: isConfirmed, input.call(app, nil))
        return Answer.object(capacity: SignedDataBody.capacity(entries)) { writer in
            writer.memberArray("signedData") { writer in
                for entry in entries {
                    writer.object { SignedDataBody.write(entry, requestID: input.requestID, to: &$0) }
                }
            }
        }
    }
}

/// One item as it was verified: Apple's decoded payload, spliced in byte for byte under the name of its kind.
enum SignedDataBody {
    static func write(_ entry: SignedDataService.Entry, requestID: String, to writer: inout JSONWriter) {
        writer.member("kind", entry.kind.rawValue)
        switch entry.result {
        case .success(let checked):
            writer.memberRaw(entry.kind.rawValue, checked.data.payload)
            writer.member("environment", checked.environment.rawValue)
            writer.member("verified", true)
        case .failure(let fault):
            writer.member("verified", false)
            writer.member("failedCheck", fault.status.rawValue)
            writer.member("detail", fault.detail)
        }
        switch entry.link {
        case nil: break
        case .linked: writer.member("link", "linked")
        case .conflict(let owner):
            writer.member("link", "conflict")
            writer.member("owner", owner.value)
        case .notProven: writer.member("link", "notProven")
        }
        if let present = entry.present {
            writer.memberObject("apple") { write(present, requestID: requestID, to: &$0) }
        }
    }

    /// The capacity that an answer with these entries needs.
    static func capacity(_ entries: [SignedDataService.Entry]) -> Int {
        entries.reduce(256) { size, entry in
            let payload = (try? entry.result.get())?.data.payload.count ?? 0
            return size + 192 + (entry.present == nil ? payload : 2 * payload)
        }
    }

    private static func write(
        _ present: Result<PresentState, ServiceError>, requestID: String, to writer: inout JSONWriter
    ) {
        switch present {
        case .success(.transaction(let transaction)): writer.memberRaw("transaction", transaction.payload)
        case .success(.appTransaction(let found)): writer.memberRaw("appTransaction", found.data.payload)
        case .success(.subscription(let subscription)):
            writer.member("status", Int(subscription.status.rawValue))
            writer.memberRaw("renewalInfo", subscription.renewalInfo.payload)
            writer.memberRaw("transaction", subscription.transaction.payload)
        case .failure(let error): ProblemResponse.writeMember(error, requestID: requestID, to: &writer)
        }
    }
}
