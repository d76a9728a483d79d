/// How each part of the daemon is, for people.
package struct HealthReport: Sendable {
    package struct Part: Sendable {
        package let name: String
        package let isHealthy: Bool
        /// One line.
        package let detail: String

        package init(name: String, isHealthy: Bool, detail: String) {
            self.name = name
            self.isHealthy = isHealthy
            self.detail = detail
        }
    }

    /// Whether the daemon can serve: its store is usable and it is not draining.
    package let isReady: Bool
    package let parts: [Part]
    /// `apple`, or `custom` when the configuration points elsewhere.
    package let upstream: String
    package let version: String

    package init(isReady: Bool, parts: [Part], upstream: String, version: String) {
        self.isReady = isReady
        self.parts = parts
        self.upstream = upstream
        self.version = version
    }
}

/// Tells how the daemon is.
package protocol HealthReporter: Sendable {
    /// Whether the daemon can serve; quick.
    func isReady() async -> Bool
    /// Everything an operator wants to see.
    func report() async -> HealthReport
    /// The keys of every app, without anything secret.
    func keys() async -> [KeyStatus]
}
