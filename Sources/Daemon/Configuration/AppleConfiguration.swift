/// How Apple is called and whose signatures are trusted.
package struct AppleConfiguration: Sendable, Equatable {
    /// Files with the pinned root certificates, DER or PEM, by absolute path; at least one.
    package let rootCertificateFiles: [String]
    /// The servers to call in place of Apple's.
    package let upstream: CustomUpstream?
    /// The certificate authorities trusted for TLS to the upstream, PEM; `nil` means the system's.
    package let certificateAuthorityFile: String?
    /// The proxy's URL; it may hold a password, so it is never logged.
    package let proxy: String?
    /// Longest wait for a connection, TLS handshake included.
    package let connectTimeout: Duration
    /// Longest duration of one attempt.
    package let attemptTimeout: Duration
    /// Longest duration of one call with all its attempts.
    package let deadline: Duration
    /// The largest answer taken, in bytes.
    package let maximumResponseBytes: Int
    package let rateLimits: RateLimitConfiguration

    /// Whether calls go to a simulator or another server that is not Apple's.
    package var usesCustomUpstream: Bool { upstream != nil }

    package init(
        rootCertificateFiles: [String], upstream: CustomUpstream? = nil, certificateAuthorityFile: String? = nil,
        proxy: String? = nil, connectTimeout: Duration = .seconds(5), attemptTimeout: Duration = .seconds(15),
        deadline: Duration = .seconds(25), maximumResponseBytes: Int = 8 * 1024 * 1024,
        rateLimits: RateLimitConfiguration = RateLimitConfiguration()
    ) {
        self.rootCertificateFiles = rootCertificateFiles
        self.upstream = upstream
        self.certificateAuthorityFile = certificateAuthorityFile
        self.proxy = proxy
        self.connectTimeout = connectTimeout
        self.attemptTimeout = attemptTimeout
        self.deadline = deadline
        self.maximumResponseBytes = maximumResponseBytes
        self.rateLimits = rateLimits
    }
}
