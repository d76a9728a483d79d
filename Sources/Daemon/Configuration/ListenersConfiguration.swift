/// The sockets that the daemon listens on; one that is `nil` is switched off.
package struct ListenersConfiguration: Sendable, Equatable {
    /// For internal services: `/v1`.
    package let api: ListenerSettings?
    /// For operators: details of health, key states.
    package let admin: ListenerSettings?
    /// For orchestrators: `/livez`, `/readyz` and `/metrics`.
    package let health: ListenerSettings?

    package init(
        api: ListenerSettings? = nil, admin: ListenerSettings? = nil, health: ListenerSettings? = nil
    ) {
        self.api = api
        self.admin = admin
        self.health = health
    }

    /// Those that are switched on, by name.
    package var all: [(name: String, settings: ListenerSettings)] {
        [("api", api), ("admin", admin), ("health", health)].compactMap { name, settings in
            settings.map { (name, $0) }
        }
    }
}
