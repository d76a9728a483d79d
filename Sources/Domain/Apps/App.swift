/// One App Store app, as the configuration declares it.
package struct App: Sendable, Hashable {
    /// The name in our paths, such as `coins`.
    package let slug: String
    /// The bundle id: the token's `bid` claim, and what signed data must name.
    package let bundleID: String
    /// Apple's numeric app id (Apple's field `appAppleId`).
    package let appAppleID: Int64?
    /// The environments that this app may be used in.
    package let environments: Set<AppStoreEnvironment>
    /// Names of consumption fields that Apple added after this release and that pass through unchecked.
    package let additionalConsumptionFields: Set<String>
    /// What callers use as ids of the users.
    package let userIDs: UserIDs
    /// The `appAccountToken`s that name nobody, in lower case; the nil UUID always among them.
    package let ignoredTokens: Set<String>
    /// Whether a guardian's `RESCIND_CONSENT` stops consumption, beyond what Apple asks for.
    package let guardianBlocksConsumption: Bool
    /// The oldest wording that a recorded consent may have been given to for the app's policy; nil for any.
    package let minimumWordingVersion: String?
    /// The UUID by which answers about receipts name the app; nil for one made of its slug.
    package let appFamilyID: String?

    /// What callers use as ids of the users.
    package enum UserIDs: String, Sendable, Hashable, CaseIterable {
        /// The token that the app itself gives to each purchase: it alone names the owner, with no link.
        case appAccountToken
        /// Anything: whose a token is must be linked, or be the id of a user that was heard of.
        case opaque
    }

    /// The UUID of zeros, which apps set where they have no token (RFC 9562 section 5.9).
    package static let nilToken = "00000000-0000-0000-0000-000000000000"

    package init(
        slug: String, bundleID: String, appAppleID: Int64? = nil,
        environments: Set<AppStoreEnvironment> = [.production, .sandbox],
        additionalConsumptionFields: Set<String> = [], userIDs: UserIDs = .opaque, ignoredTokens: Set<String> = [],
        guardianBlocksConsumption: Bool = true, minimumWordingVersion: String? = nil, appFamilyID: String? = nil
    ) {
        self.slug = slug
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
        self.additionalConsumptionFields = additionalConsumptionFields
        self.userIDs = userIDs
        self.ignoredTokens = Set(ignoredTokens.map { $0.lowercased() }).union([Self.nilToken])
        self.guardianBlocksConsumption = guardianBlocksConsumption
        self.minimumWordingVersion = minimumWordingVersion
        self.appFamilyID = appFamilyID?.lowercased()
    }

    /// Whether a text is in the form of a slug: 1 to 63 lowercase letters, digits and hyphens, and no hyphen first.
    package static func isSlug(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...63).contains(bytes.count), bytes.first != UInt8(ascii: "-") else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    /// Whether the users' ids are the `appAccountToken`s of their purchases.
    package var areUserIDsTokens: Bool { userIDs == .appAccountToken }

    /// Whether an `appAccountToken` names somebody, in whatever case it is written.
    package func isTokenIgnored(_ token: String) -> Bool { ignoredTokens.contains(token.lowercased()) }

    /// Whether consent to this wording is consent to what the app's policy sends.
    ///
    /// - Parameter version: as it was recorded; nil where none was given.
    /// - Returns: true for any wording of an app that has no minimum.
    package func isWordingRecent(_ version: String?) -> Bool {
        guard let minimum = minimumWordingVersion.flatMap(WordingVersion.init) else { return true }
        guard let version = version.flatMap(WordingVersion.init) else { return false }
        return version >= minimum
    }

    /// Checks that the app may be used in an environment.
    ///
    /// - Throws: `environmentNotAllowed`.
    package func require(_ environment: AppStoreEnvironment) throws(ServiceError) {
        guard environments.contains(environment) else {
            throw ServiceError(
                .environmentNotAllowed,
                "App `\(slug)` is not configured for \(environment.rawValue); its `environments` list says where it may be used."
            )
        }
    }
}

/// The version of a wording that users consent to: numbers with dots or hyphens between, such as `3`, `2.10` or `2026-05-25`.
///
/// Compared number by number, the first one first; what is missing at the end counts as zero, so `2` and `2.0` are equal.
package struct WordingVersion: Sendable, Comparable {
    private let numbers: [Int64]

    /// Nil for a text that is no such version.
    package init?(_ text: String) {
        var numbers: [Int64] = []
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "." || $0 == "-" }) {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(part) else { return nil }
            numbers.append(number)
        }
        while numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    package static func < (one: Self, other: Self) -> Bool { one.numbers.lexicographicallyPrecedes(other.numbers) }
}

/// Which of Apple's two servers a call or a purchase belongs to.
///
/// Data of the environments `Xcode` and `LocalTesting` is refused everywhere, so they have no case.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/environment
package enum AppStoreEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
}

/// The apps of the configuration, by slug: a list that stays as it is, or those of the present settings whenever it is asked.
package struct AppCatalog: Sendable {
    private final class List: Sendable {
        /// By slug in ascending order.
        let all: [App]
        let bySlug: [String: App]

        init(_ apps: [App]) {
            all = apps.sorted { $0.slug < $1.slug }
            bySlug = Dictionary(apps.map { ($0.slug, $0) }) { first, _ in first }
        }
    }

    private enum Source {
        case list(List)
        case settings(CurrentSettings)
    }

    private let source: Source

    /// A list that stays as it is.
    package init(_ apps: [App]) { source = .list(List(apps)) }

    /// Those of settings that may be replaced, whose own catalog is a list.
    init(of settings: CurrentSettings) { source = .settings(settings) }

    /// All apps, by slug in ascending order.
    package var all: [App] { list.all }

    private var list: List {
        switch source {
        case .list(let list): list
        case .settings(let settings): settings.read { $0.apps.list }
        }
    }

    /// The app with this slug.
    ///
    /// - Throws: `appNotFound`.
    package func app(_ slug: String) throws(ServiceError) -> App {
        guard let app = list.bySlug[slug] else {
            throw ServiceError(
                .appNotFound, "There is no app of this name; `GET /v1/apps` lists those that you may use.")
        }
        return app
    }
}

/// An app in one of Apple's environments: what Apple's limits, failures and histories have in common.
package struct AppEnvironment: Sendable, Hashable {
    /// The app's slug.
    package let app: String
    /// Nil as long as it is not known.
    package let environment: AppStoreEnvironment?

    package init(app: String, environment: AppStoreEnvironment?) {
        self.app = app
        self.environment = environment
    }

    /// For people.
    var environmentName: String { environment?.rawValue ?? "unknown" }
}
