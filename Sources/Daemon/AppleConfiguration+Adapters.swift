import AppStoreAPI
import AppStoreClient
import Curl
import Domain

// The configuration's section `apple`, as the adapters take it.

extension AppleConfiguration {
    /// The servers to call, by environment.
    var baseURLs: [AppStoreEnvironment: String] {
        [
            .production: upstream?.production ?? BaseURL.production,
            .sandbox: upstream?.sandbox ?? BaseURL.sandbox,
        ]
    }
}

extension CurlConfiguration {
    init(_ apple: AppleConfiguration) {
        self.init()
        certificateAuthorityFile = apple.certificateAuthorityFile
        proxy = apple.proxy
        userAgent = "purser/\(Version.text)"
    }
}

extension UpstreamConfiguration {
    init(_ apple: AppleConfiguration) {
        self.init(
            baseURLs: apple.baseURLs, connectTimeout: apple.connectTimeout, attemptTimeout: apple.attemptTimeout,
            maximumResponseBytes: apple.maximumResponseBytes)
    }
}
