/// Where Apple serves the App Store Server API: scheme and host, to be followed by ``Endpoint/pathAndQuery``.
///
/// These are the hosts that Apple's server libraries have used since May 2026; before, they were `api.storekit.itunes.apple.com` and
/// `api.storekit-sandbox.itunes.apple.com`.
/// Source: https://developer.apple.com/documentation/appstoreserverapi
package enum BaseURL {
    package static let production = "https://api.storekit.apple.com"
    package static let sandbox = "https://api.storekit-sandbox.apple.com"
}
