package import Logging

/// What deliveries are sent with.
package struct DeliveryParts: Sendable {
    let store: any DeliveryStore
    let consent: any ConsentStore
    let links: any LinkStore
    let gateway: any AppStoreGateway
    let apps: AppCatalog
    let transfers: TransfersUnderWay
    let outcomes: OutcomeBoard
    let clock: ServiceClock
    let policy: DispatchPolicy
    let logger: Logger

    package init(
        store: any DeliveryStore, consent: any ConsentStore, links: any LinkStore, gateway: any AppStoreGateway,
        apps: AppCatalog, transfers: TransfersUnderWay, outcomes: OutcomeBoard, clock: ServiceClock,
        policy: DispatchPolicy = DispatchPolicy(), logger: Logger
    ) {
        self.store = store
        self.consent = consent
        self.links = links
        self.gateway = gateway
        self.apps = apps
        self.transfers = transfers
        self.outcomes = outcomes
        self.clock = clock
        self.policy = policy
        self.logger = logger
    }
}
