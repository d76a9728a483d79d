package import Foundation

/// What is known of a signing key wherever it comes from; nothing of it is secret.
package struct KeyFacts: Sendable, Equatable {
    /// Where a key comes from.
    package enum Source: String, Sendable, CaseIterable {
        /// A file that the configuration names.
        case file
        /// A systemd credential that the configuration names.
        case credential
        /// A directory that is watched.
        case directory
        /// An operator has imported it; the store keeps it sealed.
        case imported

        /// Whether the configuration declares the key itself: then nobody changes it through the API.
        package var isConfigured: Bool { self == .file || self == .credential }
    }

    /// Apple's key id: the token's `kid`.
    package let keyID: String
    /// Apple's issuer id: the token's `iss`.
    package let issuerID: String
    /// The apps it may sign for, by slug.
    package let apps: [String]
    package let source: Source
    /// What the configuration declares; nil for a key that it does not declare itself.
    package let declaredState: KeyStatus.State?
    /// SHA-256 of the public half, in hexadecimal digits; nil for a key that was not read.
    package var fingerprint: String?
    /// When and by whom it was imported.
    package var importedAt: Date?
    package var importedBy: String?
    /// Why it cannot sign, though it should: its sealed bytes do not open.
    package var problem: String?

    package init(
        keyID: String, issuerID: String, apps: [String], source: Source, declaredState: KeyStatus.State? = nil,
        fingerprint: String? = nil, importedAt: Date? = nil, importedBy: String? = nil, problem: String? = nil
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.apps = apps
        self.source = source
        self.declaredState = declaredState
        self.fingerprint = fingerprint
        self.importedAt = importedAt
        self.importedBy = importedBy
        self.problem = problem
    }

    /// The largest file that a key is read from, in bytes; a P-256 key takes less than 300.
    package static let maximumFileBytes = 16 << 10

    /// What a key id must be, in words for people.
    package static let keyIDRule = "Apple's id of the key, 1 to 64 letters and digits"

    /// Whether a text can be Apple's id of a key: ten capitals and digits today, but the length is Apple's to change.
    package static func isKeyID(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}

/// What has become of a key for one app, decided by an operator, by Apple's refusal or by what a directory holds.
package struct KeyRole: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// It signs for the app.
        case active
        /// Another key has taken its place.
        case retired
    }

    package enum Cause: String, Sendable, CaseIterable {
        case `operator`
        /// A standby key took over from one that Apple refused.
        case takeover
        /// It was the first key of a directory for an app without one.
        case directory
    }

    package let app: String
    package let keyID: String
    package let kind: Kind
    package let cause: Cause
    /// The key whose place it took; nil where there was none, and for a retired key.
    package let replacedKeyID: String?
    /// The key that the configuration declared active then: once it declares another, the configuration has decided anew.
    package let declaredKeyID: String?
    package let since: Date

    package init(
        app: String, keyID: String, kind: Kind, cause: Cause, replacedKeyID: String? = nil, declaredKeyID: String?,
        since: Date
    ) {
        self.app = app
        self.keyID = keyID
        self.kind = kind
        self.cause = cause
        self.replacedKeyID = replacedKeyID
        self.declaredKeyID = declaredKeyID
        self.since = since
    }
}

/// What has happened to a key, whatever its source.
package struct KeyHistory: Sendable, Hashable {
    package let keyID: String
    /// When this installation first had it.
    package let firstSeenAt: Date
    /// When it last signed, to the minute; nil for a key that never did.
    package var lastUsedAt: Date?
    /// When an operator retired it for all of its apps.
    package var retiredAt: Date?
    package var revokedAt: Date?
    /// SHA-256 of the public half that a directory has brought, in hexadecimal digits: what the audit has on record as being
    /// there; nil for a key that no directory has, or has no more.
    package var directoryFingerprint: String?

    package init(
        keyID: String, firstSeenAt: Date, lastUsedAt: Date? = nil, retiredAt: Date? = nil, revokedAt: Date? = nil,
        directoryFingerprint: String? = nil
    ) {
        self.keyID = keyID
        self.firstSeenAt = firstSeenAt
        self.lastUsedAt = lastUsedAt
        self.retiredAt = retiredAt
        self.revokedAt = revokedAt
        self.directoryFingerprint = directoryFingerprint
    }
}

/// What has been decided about keys, and what has happened to them: all that a restart must not forget, but the keys themselves.
package struct KeyStates: Sendable, Equatable {
    package var roles: Set<KeyRole>
    /// By key id.
    package var histories: [String: KeyHistory]

    package init(roles: Set<KeyRole> = [], histories: [String: KeyHistory] = [:]) {
        self.roles = roles
        self.histories = histories
    }
}
