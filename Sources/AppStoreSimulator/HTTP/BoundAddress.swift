/// Where a socket listens.
package struct BoundAddress: Sendable, Hashable {
    package let host: String
    package let port: Int

    /// The address as it stands in a URL.
    package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
