/// Where an app wants the notifications of one environment.
package struct NotificationAddress: Sendable, Hashable {
    package var url: NotificationURL
    /// Certificates (PEM) to trust in place of the system's, for servers with a private authority.
    package var certificateAuthorities: String?

    package init(url: NotificationURL, certificateAuthorities: String? = nil) {
        self.url = url
        self.certificateAuthorities = certificateAuthorities
    }
}
