/// What the command line of `purser serve` overrides.
package struct ConfigurationFlags: Sendable, Equatable {
    /// `--store`, in place of `store`.
    package let store: String?
    /// `--log-level`, in place of `log.level`.
    package let logLevel: String?

    package init(store: String? = nil, logLevel: String? = nil) {
        self.store = store
        self.logLevel = logLevel
    }
}
