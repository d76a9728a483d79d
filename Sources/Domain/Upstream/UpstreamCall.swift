/// For whom, how urgently and until when Apple is asked.
package struct UpstreamCall: Sendable {
    package let app: App
    /// The environment to ask; nil lets the gateway find it out.
    package let environment: AppStoreEnvironment?
    /// No attempt starts and no wait lasts beyond this.
    package let deadline: ContinuousClock.Instant
    /// The name of the caller on whose behalf Apple is asked; empty for our own work.
    package let caller: String
    package let priority: CallPriority

    package init(
        app: App, environment: AppStoreEnvironment?, deadline: ContinuousClock.Instant, caller: String = "",
        priority: CallPriority = .interactive
    ) {
        self.app = app
        self.environment = environment
        self.deadline = deadline
        self.caller = caller
        self.priority = priority
    }

    /// The same call in a given environment.
    package func `in`(_ environment: AppStoreEnvironment) -> UpstreamCall {
        UpstreamCall(app: app, environment: environment, deadline: deadline, caller: caller, priority: priority)
    }
}
