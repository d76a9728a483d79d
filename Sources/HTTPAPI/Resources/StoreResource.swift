import Domain
import Foundation
import HTTPTypes
import JSON

/// The store as a whole, for operators.
struct StoreRoutes: Sendable {
    let store: StoreAdministration

    /// `POST /v1/store:backup`.
    func backup(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let path = fields.string("path", expected: "the absolute path of a new file") {
            $0.hasPrefix("/") && !$0.hasSuffix("/")
        }
        guard fields.isValid, let path else { throw fields.error }
        let now = try await store.backup(to: path, by: input.actor)
        return Answer.object(.created) { writer in
            writer.member("path", path)
            writer.member("at", Timestamp.text(now))
        }
    }

    /// `POST /v1/store:check`.
    func check(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let problems = try await store.problems()
        return Answer.object { writer in
            writer.memberArray("problems") { writer in
                for problem in problems { writer.value(problem) }
            }
        }
    }

    /// `POST /v1/deliveries:release`.
    func release(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let (hold, waiting) = try await store.releaseSending(by: input.actor)
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
