package import AppStoreAPI

/// How often an app may call an endpoint, where it is other than Apple's published rate.
package struct RateLimit: Sendable, Hashable {
    /// Nil for every environment.
    package var environment: SimulatedEnvironment?
    /// Nil for every endpoint.
    package var operation: Endpoint.Operation?
    /// Nil for every app.
    package var bundleID: String?
    /// Calls in a window; 0 refuses every call.
    package var limit: Int
    /// Length of the window, aligned to its multiples since 1970.
    package var windowSeconds: Int64

    package init(
        environment: SimulatedEnvironment? = nil, operation: Endpoint.Operation? = nil, bundleID: String? = nil,
        limit: Int, windowSeconds: Int64 = 3600
    ) {
        self.environment = environment
        self.operation = operation
        self.bundleID = bundleID
        self.limit = limit
        self.windowSeconds = windowSeconds
    }
}

extension RateLimit {
    /// Apple's own limit: stated by the second, enforced by the hour, a tenth of it in the sandbox; nil where Apple publishes none.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    package static func published(
        for operation: Endpoint.Operation, in environment: SimulatedEnvironment
    ) -> RateLimit? {
        operation.requestsPerSecond.map { perSecond in
            RateLimit(limit: environment == .production ? perSecond * 3600 : perSecond * 360)
        }
    }
}
