import Foundation

/// Where notifications are sent, taken apart.
package struct NotificationURL: Sendable, Hashable {
    /// As it was given.
    package let text: String
    package let isEncrypted: Bool
    package let host: String
    package let port: Int
    /// Path and query, percent-encoded.
    package let target: String

    /// Reads an absolute URL with the scheme `https` or `http`; Apple demands the first, tests often have only the second.
    package init?(_ text: String) { self.init(URL(string: text)) }

    /// Follows a redirection, to an absolute or a relative reference.
    func redirected(to reference: String) -> NotificationURL? {
        NotificationURL(URL(string: reference, relativeTo: URL(string: text))?.absoluteURL)
    }

    private init?(_ url: URL?) {
        guard let url, let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false),
            !host.isEmpty, scheme == "https" || scheme == "http", url.user() == nil
        else { return nil }
        text = url.absoluteString
        isEncrypted = scheme == "https"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (isEncrypted ? 443 : 80)
        let path = url.path(percentEncoded: true)
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
    }

    /// Host and port as the `Host` header has them.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)"
    }
}
