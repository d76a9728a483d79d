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
}
