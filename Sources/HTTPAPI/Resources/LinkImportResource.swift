import Domain
import HTTPTypes

/// Taking links over from where they were kept before, for operators.
struct LinkImportRoutes: Sendable {
    let service: LinkService

    /// `POST /v1/apps/{app}/links:import`.
    func importLinks(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let batch = try RequestBatch(input, "links", atMost: LinkService.maximumImport)
        let read = batch.elements.map { element in
            Result { () throws(ServiceError) in try link(element, of: app) }
        }
        let statements = read.compactMap { try? $0.get() }
        let results = try await service.importLinks(statements, app: app, isDryRun: batch.isDryRun, by: input.actor)
        return batch.answer(read, results.map { $0.map(\.rawValue) }, requestID: input.requestID)
    }

    /// Reads one element of `links`.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    private func link(_ element: FieldValue, of app: App) throws(ServiceError) -> Link {
        try FieldReader.read(try RequestBatch.members(of: element)) { fields in
            let user = fields.text("user", isRequired: true).flatMap { text in
                fields.check { () throws(ServiceError) in try UserID(text) }
            }
            let kind = fields.choice("kind", LinkTarget.Kind.self)
            let value = fields.text("value", isRequired: true)
            let environment = fields.environment(for: app, in: .body)
            let (validFrom, validUntil) = (fields.time("validFrom"), fields.time("validUntil"))
            return service.imported(
                kind.flatMap { kind in value.map { LinkTarget(kind, $0) } }, of: user, app: app,
                environment: environment, validFrom: validFrom, validUntil: validUntil, &fields)
        }
    }
}
