import Domain
import HTTPTypes
import JSON

/// What users agreed to, and their erasure.
struct ConsentRoutes: Sendable {
    let service: ConsentService

    /// `PUT …/users/{user}/consent`.
    func record(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let user = try UserID(try input.parameter("user"))
        var fields = BodyFields(try input.jsonObject())
        let isConsented = fields.boolean("consented")
        let source = fields.text("source", bytes: 1...ConsentService.maximumSourceBytes)
        let time = fields.time("at")
        fields.refuseUnknown()
        guard fields.havePassed, let isConsented, let source else { throw fields.error }
        let outcome = try await service.record(
            app: app, user: user, isConsented: isConsented, source: source, at: time,
            caller: input.caller?.name ?? "")
        return Answer.object { writer in
            ConsentBody.write(outcome.record, to: &writer)
            DeliveryBody.writeIDs("cancelled", outcome.cancelled, to: &writer)
            DeliveryBody.writeIDs("mayHaveBeenSent", outcome.mayHaveBeenSent, to: &writer)
        }
    }

    /// `GET …/users/{user}/consent`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let user = try UserID(try input.parameter("user"))
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

    /// `DELETE …/users/{user}`.
    func erase(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let user = try UserID(try input.parameter("user"))
        let report = try await service.erase(app: app, user: user)
        return Answer.object(capacity: 1024) { ErasureBody.write(report, app, user, to: &$0) }
    }
}
