import Domain
import Foundation
import HTTPTypes
import JSON

/// The signing keys, for operators.
///
/// Nothing gives a key back.
struct KeyRoutes: Sendable {
    let keys: any KeyAdministration
    let apps: AppCatalog

    /// `GET /v1/keys`.
    func list(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let overview = await keys.overview()
        return Answer.object(capacity: 4096) { writer in
            writer.member("masterKeyId", overview.masterKeyID)
            writer.memberArray("keys") { writer in
                for key in overview.keys { writer.object { Self.write(key, to: &$0) } }
            }
            writer.memberArray("directoryProblems") { writer in
                for problem in overview.directoryProblems { writer.value(problem) }
            }
        }
    }

    /// `GET /v1/keys/{keyId}`.
    func get(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return Self.answer(try await keys.key(try input.parameter("keyId")))
    }

    /// `POST /v1/keys/{keyId}:import`.
    func importKey(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let keyID = fields.value(
            "keyId", in: .path, expected: KeyFacts.keyIDRule
        ) { KeyFacts.isKeyID($0) ? $0 : nil }
        let issuerID = fields.value(
            "issuerId", in: .query, expected: "the issuer id that App Store Connect shows above the keys, a UUID"
        ) { UUID(uuidString: $0) == nil ? nil : $0 }
        let slugs = fields.values("app")
        if slugs.isEmpty { fields.note("app", "required", "`app` is required: the apps that the key signs for.") }
        for slug in slugs where !apps.all.contains(where: { $0.slug == slug }) {
            let name = QuotableText.name(slug)
            fields.note("app", "value", "There is no app `\(name)`; the configuration declares apps.")
        }
        guard fields.isValid, let keyID, let issuerID, let text = input.secretBody else { throw fields.error }
        let key = try await keys.importKey(
            KeyImport(keyID: keyID, issuerID: issuerID, apps: slugs, text: text), by: input.actor)
        return Self.answer(key, status: .created)
    }

    /// `POST /v1/keys/{keyId}:check`.
    func check(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let check = try await keys.check(try input.parameter("keyId"), by: input.actor)
        return Answer.object { writer in
            writer.member("keyId", check.keyID)
            writer.member("passes", check.passes)
            writer.memberArray("findings") { writer in
                for finding in check.findings {
                    writer.object { writer in
                        writer.member("app", finding.app)
                        writer.member("environment", finding.environment.rawValue)
                        writer.member("verdict", finding.verdict.rawValue)
                    }
                }
            }
        }
    }

    /// `POST /v1/keys/{keyId}:activate`.
    func activate(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        var slugs: [String]?
        if let elements = fields.array("apps", isRequired: false, expected: "some of the key's apps, by slug") {
            let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            if texts.count < elements.count {
                fields.note("apps", "type", "`apps` must hold slugs of apps alone, as strings.")
            }
            slugs = texts
        }
        let unchecked = fields.boolean("unchecked", isRequired: false) ?? false
        guard fields.isValid else { throw fields.error }
        return Self.answer(
            try await keys.activate(
                try input.parameter("keyId"), apps: slugs, unchecked: unchecked, by: input.actor))
    }

    /// `POST /v1/keys/{keyId}:retire`.
    func retire(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return Self.answer(try await keys.retire(try input.parameter("keyId"), by: input.actor))
    }

    /// `POST /v1/keys/{keyId}:revoke`.
    func revoke(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return Self.answer(try await keys.revoke(try input.parameter("keyId"), by: input.actor))
    }

    /// `DELETE /v1/keys/{keyId}`.
    func delete(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let keyID = try input.parameter("keyId")
        try await keys.delete(keyID, by: input.actor)
        return Answer.object { $0.member("keyId", keyID) }
    }

    /// `POST /v1/keys:rewrap`.
    func rewrap(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let change = try await keys.rewrap(by: input.actor)
        return Answer.object { writer in
            writer.member("masterKeyId", change.masterKeyID)
            writer.member("rewrapped", change.rewrapped)
            writer.memberArray("failures") { writer in
                for failure in change.failures { writer.value(failure) }
            }
            writer.memberOrNull("fileToClean", change.fileToClean)
        }
    }

    private static func answer(_ key: KeyDetails, status: HTTPResponse.Status = .ok) -> Answer {
        Answer.object(status) { write(key, to: &$0) }
    }

    private static func write(_ key: KeyDetails, to writer: inout JSONWriter) {
        let facts = key.facts
        writer.member("keyId", facts.keyID)
        writer.member("issuerId", facts.issuerID)
        writer.memberArray("apps") { writer in
            for app in facts.apps { writer.value(app) }
        }
        writer.member("source", facts.source.rawValue)
        writer.member("state", key.state.rawValue)
        writer.memberArray("activeApps") { writer in
            for app in key.activeApps { writer.value(app) }
        }
        writer.memberOrNull("fingerprint", facts.fingerprint)
        writer.memberOrNull("importedAt", facts.importedAt.map(Timestamp.text))
        writer.memberOrNull("importedBy", facts.importedBy)
        writer.memberOrNull("firstSeenAt", (key.history?.firstSeenAt).map(Timestamp.text))
        writer.memberOrNull("lastUsedAt", (key.history?.lastUsedAt).map(Timestamp.text))
        writer.memberOrNull("problem", facts.problem)
        writer.memberArray("warnings") { writer in
            for warning in key.warnings { writer.value(warning) }
        }
    }
}
