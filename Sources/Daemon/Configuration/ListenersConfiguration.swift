/// The sockets that the daemon listens on; one that is `nil` is switched off.
package struct ListenersConfiguration: Sendable, Equatable {
    /// For internal services: `/v1`.
    package let api: ListenerSettings?
    /// For Apple's notifications, the only one that an ingress may expose: `/webhooks/apple/{app}`.
    package let webhook: ListenerSettings?
    /// For operators: details of health, key states.
    package let admin: ListenerSettings?
    /// For orchestrators: `/livez`, `/readyz` and `/metrics`.
    package let health: ListenerSettings?
    /// For programs written for Apple's production server.
    package let appleProduction: ListenerSettings?
    /// For programs written for Apple's sandbox.
    package let appleSandbox: ListenerSettings?

    package init(
        api: ListenerSettings? = nil, webhook: ListenerSettings? = nil, admin: ListenerSettings? = nil,
        health: ListenerSettings? = nil, appleProduction: ListenerSettings? = nil, appleSandbox: ListenerSettings? = nil
    ) {
        self.api = api
        self.webhook = webhook
        self.admin = admin
        self.health = health
        self.appleProduction = appleProduction
        self.appleSandbox = appleSandbox
    }

    /// Those that are switched on, by name.
    package var all: [(name: String, settings: ListenerSettings)] {
        [
            ("api", api), ("webhook", webhook), ("admin", admin), ("health", health),
            ("appleProduction", appleProduction), ("appleSandbox", appleSandbox),
        ].compactMap { name, settings in settings.map { (name, $0) } }
    }
}
