/// An app as App Store Connect knows it.
package struct RegisteredApp: Sendable, Hashable {
    package let bundleID: String
    package let appAppleID: Int64
    /// The team that it belongs to; only its keys may ask about the app.
    package let issuerID: String
    /// An app that was never released is refused by production whatever its token is.
    package let isReleasedToProduction: Bool

    package init(bundleID: String, appAppleID: Int64, issuerID: String, isReleasedToProduction: Bool = true) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.issuerID = issuerID
        self.isReleasedToProduction = isReleasedToProduction
    }
}
