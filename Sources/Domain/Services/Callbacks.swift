package import Foundation
package import Logging

/// Those who are told what happens.
package struct Callbacks: Sendable {
    package let service: CallbackService
    /// Sends what happens.
    package let sender: CallbackSender

    package struct Ports: Sendable {
        package var store: any CallbackStore
        package var events: any EventStore
        /// Tells of every commit that kept events.
        package var changes: ChangeSignal
        package var delivery: CallbackDelivery
        package var clock: ServiceClock
        /// Makes an id ordered by the time given.
        package var makeID: @Sendable (Date) -> String
        package var logger: Logger
    }

    init(_ ports: Ports, feed: EventFeed, audit: any AuditTrail, settings: CurrentSettings) {
        let policy: @Sendable () -> CallbackPolicy = { settings.read { $0.callbacks } }
        let poster = CallbackPoster(
            policy: policy, store: ports.store, secrets: ports.delivery.secrets,
            transport: ports.delivery.transport, encoder: ports.delivery.encoder, clock: ports.clock)
        let sender = CallbackSender(
            store: ports.store, events: ports.events, changes: ports.changes, poster: poster,
            retries: ports.delivery.retries, clock: ports.clock, logger: ports.logger)
        self.sender = sender
        service = CallbackService(
            currentPolicy: policy, store: ports.store, secrets: ports.delivery.secrets, events: feed,
            poster: poster, audit: audit, clock: ports.clock, makeID: ports.makeID, changed: sender.changed)
    }
}

/// What callbacks need of the world.
package struct CallbackDelivery: Sendable {
    package var transport: any CallbackTransport
    package var secrets: any CallbackSecrets
    package var encoder: any CallbackEncoder
    package var retries: CallbackRetries

    package init(
        transport: any CallbackTransport, secrets: any CallbackSecrets, encoder: any CallbackEncoder,
        retries: CallbackRetries = CallbackRetries()
    ) {
        self.transport = transport
        self.secrets = secrets
        self.encoder = encoder
        self.retries = retries
    }
}
