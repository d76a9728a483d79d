/// How the daemon stops.
package struct ShutdownConfiguration: Sendable, Equatable {
    /// How long it keeps serving while `/readyz` already answers 503, so that load balancers notice.
    package let drainDelay: Duration
    /// Longest wait for requests in flight after that.
    package let timeout: Duration

    package init(drainDelay: Duration = .zero, timeout: Duration = .seconds(30)) {
        self.drainDelay = drainDelay
        self.timeout = timeout
    }
}
