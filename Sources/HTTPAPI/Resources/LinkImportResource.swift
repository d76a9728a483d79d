import Domain
import HTTPTypes
import JSON

/// Taking links over from where they were kept before, for operators.
struct LinkImportRoutes: Sendable {
    let service: LinkService

    /// `POST /v1/apps/{app}/links:import`.
    func importLinks(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let isDryRun = fields.boolean("dryRun", isRequired: false) ?? false
        let expected = "an array of 1 to \(LinkService.maximumImport) links"
        let given = fields.array("links", expected: expected)
        if let count = given?.count, !(1...LinkService.maximumImport).contains(count) {
            fields.note("links", "count", "`links` must be \(expected); it holds \(count).")
        }
        guard fields.isValid, let given else { throw fields.error }
        let read = given.map { element in
            Result { () throws(ServiceError) in try link(element, of: app) }
        }
        let statements = read.compactMap { try? $0.get() }
        var outcomes = try await service.importLinks(statements, app: app, isDryRun: isDryRun).makeIterator()
        let results = read.map { link in
            switch link {
            case .success: outcomes.next() ?? .failure(ServiceError(.internalError, "Internal error."))
            case .failure(let error): Result<LinkService.ImportOutcome, ServiceError>.failure(error)
            }
        }
        return Answer.object { writer in
            writer.member("dryRun", isDryRun)
            writer.memberArray("results") { writer in
                for result in results {
                    writer.object { Self.write(result, requestID: input.requestID, to: &$0) }
                }
            }
        }
    }

    /// Reads one element of `links`.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    private func link(_ element: FieldValue, of app: App) throws(ServiceError) -> Link {
        guard case .object(let members) = element else {
            throw .invalid([
                Violation(field: "links", rule: "type", message: "A link must be an object, not \(element.typeName).")
            ])
        }
        return try FieldReader.read(members) { fields in
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

    private static func write(
        _ result: Result<LinkService.ImportOutcome, ServiceError>, requestID: String, to writer: inout JSONWriter
    ) {
        switch result {
        case .success(let outcome): writer.member("outcome", outcome.rawValue)
        case .failure(let error):
            writer.member("outcome", "refused")
            ProblemResponse.writeMember(error, requestID: requestID, to: &writer)
        }
    }
}
