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
