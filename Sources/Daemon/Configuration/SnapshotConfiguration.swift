/// The answers kept in memory so that a caller can page through them.
package struct SnapshotConfiguration: Sendable, Equatable {
    /// How long one is kept.
    package let lifetime: Duration
    /// What all of them may take together, in bytes; the oldest go first.
    package let maximumBytes: Int

    package init(lifetime: Duration = .seconds(600), maximumBytes: Int = 64 * 1024 * 1024) {
        self.lifetime = lifetime
        self.maximumBytes = maximumBytes
    }
}
