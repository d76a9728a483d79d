/// The life of signing keys: what operators do with them.
///
/// No method gives a key back. What gives power away (import, activation) happens only once the audit has it; what takes power
/// away happens in any case.
package protocol KeyAdministration: Sendable {
    /// Every key, those that can sign first, and what the store seals secrets under.
    func overview() async -> KeyOverview

    /// One key.
    ///
    /// - Throws: `keyNotFound`
    func key(_ keyID: String) async throws(ServiceError) -> KeyDetails

    /// Takes a key in; it stands by from then on.
    ///
    /// - Throws: `invalidRequest` naming what the text is instead of a key; `keyConflict` for an id that is taken;
    ///   `keyUnavailable` when it cannot be sealed; `auditUnavailable`, `storeUnavailable`
    func importKey(_ request: KeyImport, by actor: Actor) async throws(ServiceError) -> KeyDetails

    /// Lets Apple judge a token by this key, for each of its apps and environments; no role changes.
    ///
    /// - Throws: `keyNotFound`, `keyConflict` for a key that cannot sign
    func check(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyCheck

    /// Makes a key the active one; the one that was is retired. Apple must take the key first, unless that is waived.
    ///
    /// `apps`: some of the key's apps; nil for all of them. `unchecked`: whether Apple need not be asked.
    ///
    /// - Throws: `keyNotFound`, `keyConflict`, `auditUnavailable`, `storeUnavailable`
    func activate(
        _ keyID: String, apps: [String]?, unchecked: Bool, by actor: Actor
    ) async throws(ServiceError) -> KeyDetails

    /// Takes a key out of use that is active for no app.
    ///
    /// - Throws: `keyNotFound`; `keyConflict` for a key that signs, is revoked, or is one of the configuration;
    ///   `storeUnavailable` when it has taken effect but is not kept yet
    func retire(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails

    /// Takes a key out of use at once, whatever its state; a standby key takes its place where there is one.
    ///
    /// - Throws: `keyNotFound`, `keyConflict` for a key of the configuration, `storeUnavailable` when it has taken effect but
    ///   is not kept yet
    func revoke(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails

    /// Removes an imported key that is active for no app.
    ///
    /// - Throws: `keyNotFound`; `keyConflict` for a key that signs, without which another one would sign, or that was not
    ///   imported; `storeUnavailable` when it is out of use but still kept
    func delete(_ keyID: String, by actor: Actor) async throws(ServiceError)

    /// Seals everything that the store keeps sealed under another master key, while everything goes on.
    ///
    /// - Throws: `keyUnavailable` when there is no other master key, or its file cannot be read or written; `storeUnavailable`
    func rewrap(by actor: Actor) async throws(ServiceError) -> MasterKeyChange
}

/// A key on its way in.
package struct KeyImport: Sendable {
    /// Apple's key id.
    package let keyID: String
    /// Apple's issuer id of the team: a UUID.
    package let issuerID: String
    /// The apps it is to sign for, by slug.
    package let apps: [String]
    /// The `.p8` file's content.
    package let text: SecretText

    package init(keyID: String, issuerID: String, apps: [String], text: SecretText) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.apps = apps
        self.text = text
    }
}

/// Every key, as an operator may see it.
package struct KeyOverview: Sendable {
    /// Which master key the store's secrets are sealed under: an id, nothing of the key.
    package let masterKeyID: String
    package let keys: [KeyDetails]
    /// The apps that have an active key and nothing that could take its place, by slug, in ascending order.
    package let appsWithoutStandby: [String]
    /// What is wrong with the directories of keys, one line each.
    package let directoryProblems: [String]

    package init(
        masterKeyID: String, keys: [KeyDetails], appsWithoutStandby: [String] = [], directoryProblems: [String]
    ) {
        self.masterKeyID = masterKeyID
        self.keys = keys
        self.appsWithoutStandby = appsWithoutStandby
        self.directoryProblems = directoryProblems
    }
}

/// One key, as an operator may see it.
package struct KeyDetails: Sendable, Equatable {
    package let facts: KeyFacts
    package let state: KeyStatus.State
    /// The apps that it signs for at present.
    package let activeApps: [String]
    package let history: KeyHistory?
    /// What an operator should look at, one sentence each.
    package let warnings: [String]

    package init(
        facts: KeyFacts, state: KeyStatus.State, activeApps: [String], history: KeyHistory?, warnings: [String]
    ) {
        self.facts = facts
        self.state = state
        self.activeApps = activeApps
        self.history = history
        self.warnings = warnings
    }
}

/// What Apple said of a key.
package struct KeyCheck: Sendable, Equatable {
    /// What Apple said for one app in one environment.
    package struct Finding: Sendable, Equatable {
        package let app: String
        package let environment: AppStoreEnvironment
        package let verdict: KeyVerdict

        package init(app: String, environment: AppStoreEnvironment, verdict: KeyVerdict) {
            self.app = app
            self.environment = environment
            self.verdict = verdict
        }
    }

    package let keyID: String
    package let findings: [Finding]

    package init(keyID: String, findings: [Finding]) {
        self.keyID = keyID
        self.findings = findings
    }

    /// Whether Apple takes the key for every app in one environment at least: an app may not be in Production yet.
    package var passes: Bool {
        !findings.isEmpty
            && Dictionary(grouping: findings, by: \.app).values.allSatisfy { of in
                of.contains { $0.verdict == .accepted }
            }
    }
}

/// What Apple thinks of a token.
package enum KeyVerdict: String, Sendable, CaseIterable {
    case accepted
    /// 401.
    case refused
    /// Apple did not answer, or not for sure.
    case noAnswer
}

/// Asks Apple what it thinks of a token, by a call that changes nothing.
package protocol KeyProbe: Sendable {
    /// Tries a token on an app's behalf.
    func verdict(
        on token: BearerToken, for app: App, in environment: AppStoreEnvironment
    ) async -> KeyVerdict
}

/// What a change of the master key came to.
package struct MasterKeyChange: Sendable, Equatable {
    /// The id of the one that seals from now on.
    package let masterKeyID: String
    /// How many secrets were sealed anew.
    package let rewrapped: Int
    /// What could not be, each with the reason; it stays as it was.
    package let failures: [String]
    /// The file from which the earlier keys can now be removed; nil where the service has done so itself.
    package let fileToClean: String?

    package init(masterKeyID: String, rewrapped: Int, failures: [String], fileToClean: String?) {
        self.masterKeyID = masterKeyID
        self.rewrapped = rewrapped
        self.failures = failures
        self.fileToClean = fileToClean
    }
}
