package import Domain
import HTTPTypes

/// What the routes of the `api` face need.
package struct APIServices: Sendable {
    package let apps: AppCatalog
    package let gateway: any AppStoreServerAPI
    package let consumption: ConsumptionService
    package let overview: UserOverviewService
    package let purchases: UserPurchasesService
    package let subscriptions: UserSubscriptionsService
    package let links: LinkService
    package let budgets: RateBudgets
    package let now: WallClock

    /// `now`: the time of day, for windows that Apple counts back from it.
    package init(
        apps: AppCatalog, gateway: any AppStoreServerAPI, consumption: ConsumptionService,
        overview: UserOverviewService, purchases: UserPurchasesService, subscriptions: UserSubscriptionsService,
        links: LinkService, budgets: RateBudgets, now: @escaping WallClock
    ) {
        self.apps = apps
        self.gateway = gateway
        self.consumption = consumption
        self.overview = overview
        self.purchases = purchases
        self.subscriptions = subscriptions
        self.links = links
        self.budgets = budgets
        self.now = now
    }
}

/// The path tables: every route of every face, on one screen.
package enum Routes {
    /// The face for internal services.
    package static func api(_ services: APIServices) -> [Route] {
        let list = Route(.get, "/v1/apps", .authenticated) { AppRoutes.list(services.apps, $0) }
        return [list] + users(services) + transactions(services) + apple(services)
    }

    /// What is known of a user.
    private static func users(_ services: APIServices) -> [Route] {
        let apps = services.apps
        let user = "/v1/apps/{app}/users/{user}"
        let consumption = ConsumptionRoutes(service: services.consumption)
        let overview = UserOverviewRoutes(service: services.overview)
        let purchases = UserPurchasesRoutes(service: services.purchases)
        let subscriptions = SubscriptionRoutes(gateway: services.gateway, service: services.subscriptions)
        let links = LinkRoutes(service: services.links)
        return [
            Route(.get, user, .transactionsRead, in: apps, handler: overview.get),
            Route(
                .post, user + "/consumption", .consumptionWrite, in: apps, body: .json, handler: consumption.forUser),
            Route(.get, user + "/refunds", .refundsRead, in: apps, handler: purchases.refunds),
            Route(.get, user + "/transactions", .transactionsRead, in: apps, handler: purchases.transactions),
            Route(.get, user + "/subscriptions", .transactionsRead, in: apps, handler: subscriptions.forUser),
            Route(.get, user + "/links", .linksWrite, in: apps, handler: links.list),
            Route(.put, user + "/links/{kind}/{value}", .linksWrite, in: apps, handler: links.declare),
            Route(.delete, user + "/links/{kind}/{value}", .linksWrite, in: apps, handler: links.end),
        ]
    }

    /// What Apple knows by transaction id, and what can be done with a transaction.
    private static func transactions(_ services: APIServices) -> [Route] {
        let (apps, gateway) = (services.apps, services.gateway)
        let transaction = "/v1/apps/{app}/transactions/{transactionId}"
        let consumption = ConsumptionRoutes(service: services.consumption)
        let transactions = TransactionRoutes(gateway: gateway, batch: TransactionBatchService(gateway: gateway))
        let lists = TransactionListRoutes(gateway: gateway)
        let subscriptions = SubscriptionRoutes(gateway: gateway, service: services.subscriptions)
        let extensions = ExtensionRoutes(gateway: gateway)
        return [
            Route(
                .post, "/v1/apps/{app}/transactions:batchGet", .transactionsRead, in: apps, body: .json,
                handler: transactions.batchGet),
            Route(.get, transaction, .transactionsRead, in: apps, handler: transactions.get),
            Route(.get, transaction + "/history", .transactionsRead, in: apps, handler: lists.history),
            Route(.get, transaction + "/refunds", .refundsRead, in: apps, handler: lists.refunds),
            Route(
                .get, transaction + "/subscriptions", .transactionsRead, in: apps,
                handler: subscriptions.forTransaction),
            Route(
                .get, transaction + "/appTransaction", .transactionsRead, in: apps,
                handler: transactions.appTransaction),
            Route(
                .post, transaction + "/consumption", .consumptionWrite, in: apps, body: .json,
                handler: consumption.forTransaction),
            Route(
                .put, transaction + "/appAccountToken", .transactionsWrite, in: apps, body: .json,
                handler: transactions.setAppAccountToken),
            Route(.post, transaction + ":finish", .transactionsWrite, in: apps, handler: transactions.finish),
            Route(
                .put, transaction + "/renewalExtension", .extensionsWrite, in: apps, body: .json,
                handler: extensions.extend),
        ]
    }

    /// What else can be asked of Apple about an app.
    private static func apple(_ services: APIServices) -> [Route] {
        let apps = services.apps
        let orders = OrderRoutes(gateway: services.gateway)
        let extensions = ExtensionRoutes(gateway: services.gateway)
        let notifications = NotificationRoutes(gateway: services.gateway, now: services.now)
        let limits = LimitsRoutes(budgets: services.budgets)
        return [
            Route(.get, "/v1/apps/{app}/limits", .limitsRead, in: apps, handler: limits.get),
            Route(.get, "/v1/apps/{app}/orders/{orderId}", .transactionsRead, in: apps, handler: orders.get),
            Route(
                .post, "/v1/apps/{app}/renewalExtensions", .extensionsWrite, in: apps, body: .json,
                handler: extensions.extendAll),
            Route(
                .get, "/v1/apps/{app}/renewalExtensions/{productId}/{requestIdentifier}", .extensionsWrite, in: apps,
                handler: extensions.status),
            Route(
                .post, "/v1/apps/{app}/testNotifications", .notificationsTest, in: apps,
                handler: notifications.requestTest),
            Route(
                .get, "/v1/apps/{app}/testNotifications/{token}", .notificationsTest, in: apps,
                handler: notifications.test),
            Route(
                .post, "/v1/apps/{app}/appleNotificationHistory:query", .notificationsRead, in: apps, body: .json,
                handler: notifications.history),
        ]
    }

    /// The face for operators.
    package static func admin(
        apps: AppCatalog, callers: CallerKeyService, health: any HealthReporter
    ) -> [Route] {
        let callers = CallerRoutes(service: callers)
        return [
            Route(.get, "/healthz", .open) { _ in await HealthRoutes.report(health) },
            Route(.get, "/v1/apps", .open) { _ in await AppRoutes.listWithKeys(apps, health) },
            Route(.get, "/v1/callers", .open, handler: callers.list),
            Route(.post, "/v1/callers/{name}/keys", .open, body: .json, handler: callers.issueKey),
            Route(.delete, "/v1/callers/{name}/keys/{keyId}", .open, handler: callers.revokeKey),
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
