import Domain
import Foundation
import HTTPTypes
import JSON

/// The store as a whole, for operators.
struct StoreRoutes: Sendable {
    let store: StoreAdministration

    /// `POST /v1/store:backup`.
    func backup(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let members = try input.jsonObject()
        var violations = members.map(\.key).sorted().filter { $0 != "path" }.map { name in
            Violation(field: name, rule: "unknownField", message: "`\(name)` is not a field of this request.")
        }
        let path = members["path"]?.string
        if path?.hasPrefix("/") != true || path?.hasSuffix("/") == true {
            violations.append(
                Violation(field: "path", rule: "format", message: "`path` must be the absolute path of a new file."))
        }
        guard violations.isEmpty, let path else { throw .invalid(violations) }
        let now = try await store.backup(to: path)
        return Answer.object(.created) { writer in
            writer.member("path", path)
            writer.member("at", Timestamp.text(now))
        }
    }

    /// `POST /v1/store:check`.
    func check(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let problems = try await store.problems()
        return Answer.object { writer in
            writer.memberArray("problems") { writer in
                for problem in problems { writer.value(problem) }
            }
        }
    }

    /// `POST /v1/deliveries:release`.
    func release(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let (hold, waiting) = try await store.releaseSending()
        return Answer.object { writer in
            if let hold {
                writer.memberObject("hold") { writer in
                    writer.member("since", Timestamp.text(hold.since))
                    writer.member("reason", hold.reason)
                }
            } else {
                writer.memberNull("hold")
            }
            writer.member("waiting", waiting)
        }
    }
}
