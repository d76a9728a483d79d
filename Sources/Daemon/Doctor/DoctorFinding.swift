package import Domain

/// What the doctor found out about one thing.
package struct DoctorFinding: Sendable, Equatable {
    package enum Verdict: String, Sendable {
        case ok
        /// It works, or will; an operator should know.
        case warning
        /// Something does not work until somebody mends it.
        case failure
    }

    /// The app's slug, or `daemon` for what the running daemon says of itself.
    package let app: String
    /// Nil for what concerns both environments.
    package let environment: AppStoreEnvironment?
    /// What was examined, such as `token`.
    package let check: String
    package let verdict: Verdict
    /// What was seen.
    package let detail: String
    /// What to do about it; nil when there is nothing to do.
    package let advice: String?

    package init(
        app: String, environment: AppStoreEnvironment? = nil, check: String, _ verdict: Verdict, _ detail: String,
        advice: String? = nil
    ) {
        self.app = app
        self.environment = environment
        self.check = check
        self.verdict = verdict
        self.detail = detail
        self.advice = advice
    }

    /// The finding as it is printed: one line, and one more where there is something to do.
    var text: String {
        let mark =
            switch verdict {
            case .ok: "ok     "
            case .warning: "WARNING"
            case .failure: "FAILED "
            }
        let place = [app, environment?.rawValue].compactMap(\.self).joined(separator: ", ")
        let line = "\(mark)  \(place): \(check): \(detail)\n"
        return advice.map { line + "         -> \($0)\n" } ?? line
    }
}
