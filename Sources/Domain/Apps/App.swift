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

    package init(
        slug: String, bundleID: String, appAppleID: Int64? = nil,
        environments: Set<AppStoreEnvironment> = [.production, .sandbox],
        additionalConsumptionFields: Set<String> = []
    ) {
        self.slug = slug
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
        self.additionalConsumptionFields = additionalConsumptionFields
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

/// Which of Apple's two servers a call or a purchase belongs to.
///
/// Data of the environments `Xcode` and `LocalTesting` is refused everywhere, so they have no case.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/environment
package enum AppStoreEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
}

/// The apps of the configuration, by slug.
package struct AppCatalog: Sendable {
    /// All apps, by slug in ascending order.
    package let all: [App]
    private let bySlug: [String: App]

    package init(_ apps: [App]) {
        all = apps.sorted { $0.slug < $1.slug }
        bySlug = Dictionary(apps.map { ($0.slug, $0) }) { first, _ in first }
    }

    /// The app with this slug.
    ///
    /// - Throws: `appNotFound`.
    package func app(_ slug: String) throws(ServiceError) -> App {
        guard let app = bySlug[slug] else {
            throw ServiceError(
                .appNotFound, "No app is configured under this name; the configuration's `apps` lists them.")
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
