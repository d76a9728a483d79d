package import Domain

/// Where Apple is and how long we wait for it.
package struct UpstreamConfiguration: Sendable {
    /// The base URL of each environment, without a slash at its end.
    package let baseURLs: [AppStoreEnvironment: String]
    package let connectTimeout: Duration
    /// The longest one attempt may take.
    package let attemptTimeout: Duration
    package let maximumResponseBytes: Int

    package init(
        baseURLs: [AppStoreEnvironment: String], connectTimeout: Duration, attemptTimeout: Duration,
        maximumResponseBytes: Int
    ) {
        self.baseURLs = baseURLs
        self.connectTimeout = connectTimeout
        self.attemptTimeout = attemptTimeout
        self.maximumResponseBytes = maximumResponseBytes
    }
}
