/// What an operator may know of a key; nothing of it is secret.
package struct KeyStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case standby
        case active
        case retired
        case revoked
    }

    package let keyID: String
    package let issuerID: String
    package let state: State
    /// The apps it signs for, by slug.
    package let apps: [String]
    /// Where it came from, such as `file` or `credential`.
    package let source: String

    package init(keyID: String, issuerID: String, state: State, apps: [String], source: String) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.state = state
        self.apps = apps
        self.source = source
    }
}
