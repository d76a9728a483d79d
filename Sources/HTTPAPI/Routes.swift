package import Domain
import HTTPTypes

/// What the routes of the `api` face need.
package struct APIServices: Sendable {
    package let apps: AppCatalog
    package let gateway: any AppStoreGateway
    package let consumption: ConsumptionService
    package let purchases: UserPurchasesService
    package let links: LinkService

    package init(
        apps: AppCatalog, gateway: any AppStoreGateway, consumption: ConsumptionService,
        purchases: UserPurchasesService, links: LinkService
    ) {
        self.apps = apps
        self.gateway = gateway
        self.consumption = consumption
        self.purchases = purchases
        self.links = links
    }
}

/// The path tables: every route of every face, on one screen.
package enum Routes {
    /// The face for internal services.
    package static func api(_ services: APIServices) -> [Route] {
        let apps = services.apps
        let consumption = ConsumptionRoutes(service: services.consumption)
        let purchases = UserPurchasesRoutes(service: services.purchases)
        let links = LinkRoutes(service: services.links)
        let transactions = TransactionRoutes(gateway: services.gateway)
        return [
            Route(.get, "/v1/apps", .authenticated) { AppRoutes.list(apps, $0) },

            Route(
                .post, "/v1/apps/{app}/users/{user}/consumption", .consumptionWrite, in: apps,
                handler: consumption.forUser),
            Route(.get, "/v1/apps/{app}/users/{user}/refunds", .refundsRead, in: apps, handler: purchases.refunds),
            Route(
                .get, "/v1/apps/{app}/users/{user}/transactions", .transactionsRead, in: apps,
                handler: purchases.transactions),
            Route(.get, "/v1/apps/{app}/users/{user}/links", .linksWrite, in: apps, handler: links.list),
            Route(
                .put, "/v1/apps/{app}/users/{user}/links/{kind}/{value}", .linksWrite, in: apps, handler: links.declare),
            Route(
                .delete, "/v1/apps/{app}/users/{user}/links/{kind}/{value}", .linksWrite, in: apps, handler: links.end),

            Route(
                .get, "/v1/apps/{app}/transactions/{transactionId}", .transactionsRead, in: apps,
                handler: transactions.get),
            Route(
                .get, "/v1/apps/{app}/transactions/{transactionId}/history", .transactionsRead, in: apps,
                handler: transactions.history),
            Route(
                .get, "/v1/apps/{app}/transactions/{transactionId}/refunds", .refundsRead, in: apps,
                handler: transactions.refunds),
            Route(
                .post, "/v1/apps/{app}/transactions/{transactionId}/consumption", .consumptionWrite, in: apps,
                handler: consumption.forTransaction),
        ]
    }

    /// The face for operators.
    package static func admin(apps: AppCatalog, health: any HealthReporter) -> [Route] {
        [
            Route(.get, "/healthz", .open) { _ in await HealthRoutes.report(health) },
            Route(.get, "/v1/apps", .open) { _ in await AppRoutes.listWithKeys(apps, health) },
        ]
    }

    /// The face for the orchestrator.
    ///
    /// `metrics`: all metrics in the Prometheus text format.
    ///
    /// - Returns: the table.
    package static func health(
        _ health: any HealthReporter, metrics: @escaping @Sendable () -> String
    ) -> [Route] {
        [
            Route(.get, "/livez", .open) { _ in HealthRoutes.live() },
            Route(.get, "/readyz", .open) { _ in await HealthRoutes.ready(health) },
            Route(.get, "/metrics", .open) { _ in HealthRoutes.metrics(metrics()) },
        ]
    }
}
