package import Domain
package import HTTPTypes

/// The path tables: every route of every listener, on one screen.
package enum Routes {
    /// The listener for internal services.
    package static func api(_ services: Services) -> [Route] {
        let list = Route(.get, "/v1/apps", .authenticated) { AppRoutes.list(services.apps, $0) }
        return [list] + users(services) + refundRequests(services) + received(services) + receipts(services)
            + transactions(services)
            + usage(services) + apple(services) + signatures(services) + callbacks(services)
    }

    /// What is known of a user.
    private static func users(_ services: Services) -> [Route] {
        let apps = services.apps
        let user = "/v1/apps/{app}/users/{user}"
        let consumption = ConsumptionRoutes(
            service: services.refunds.consumption, defaultWait: { services.refunds.consumptionWait })
        let overview = UserOverviewRoutes(
            service: services.purchases.overview, consent: services.refunds.consent, cases: services.refunds.cases)
        let export = UserExportRoutes(service: services.purchases.export, receipts: services.purchases.receipts)
        let purchases = UserPurchasesRoutes(service: services.purchases.lists)
        let subscriptions = SubscriptionRoutes(
            gateway: services.appStore, service: services.purchases.subscriptions, stored: services.purchases.stored,
            now: services.clock.now)
        let links = LinkRoutes(service: services.purchases.links)
        let consent = ConsentRoutes(service: services.refunds.consent)
        return [
            Route(.get, user, anyOf: UserOverview.scopes, in: apps, handler: overview.get),
            Route(.delete, user, .usersErase, in: apps, handler: consent.erase),
            Route(.get, user + ":export", .usersExport, in: apps, handler: export.get),
            Route(.get, user + "/consent", .consentRead, in: apps, handler: consent.get),
            Route(.put, user + "/consent", .consentWrite, in: apps, body: .json, handler: consent.record),
            Route(
                .post, user + "/consumption", .consumptionWrite, in: apps, body: .json, goesOn: true,
                handler: consumption.forUser),
            Route(.get, user + "/refunds", .refundsRead, in: apps, handler: purchases.refunds),
            Route(.get, user + "/transactions", .transactionsRead, in: apps, handler: purchases.transactions),
            Route(.get, user + "/subscriptions", .transactionsRead, in: apps, handler: subscriptions.forUser),
            Route(.get, user + "/links", .linksRead, in: apps, handler: links.list),
            Route(.put, user + "/links/{kind}/{value}", .linksWrite, in: apps, handler: links.declare),
            Route(.delete, user + "/links/{kind}/{value}", .linksWrite, in: apps, handler: links.end),
        ]
    }

    /// What Apple asks about refunds, and what has become of the answers.
    private static func refundRequests(_ services: Services) -> [Route] {
        let apps = services.apps
        let (cases, deliveries) = ("/v1/apps/{app}/cases", "/v1/apps/{app}/deliveries")
        let consumption = ConsumptionRoutes(
            service: services.refunds.consumption, defaultWait: { services.refunds.consumptionWait })
        let refund = CaseRoutes(
            service: services.refunds.cases, tokens: services.purchases.pageTokens, clock: services.clock)
        let delivery = DeliveryRoutes(service: services.refunds.deliveries, tokens: services.purchases.pageTokens)
        let report = RefundReportRoutes(service: services.refunds.reports)
        return [
            Route(.get, "/v1/apps/{app}/refundReport", .consumptionRead, in: apps, handler: report.get),
            Route(.get, cases, .consumptionRead, in: apps, handler: refund.list),
            Route(.get, cases + "/{caseId}", .consumptionRead, in: apps, handler: refund.get),
            Route(
                .post, cases + "/{caseId}/consumption", .consumptionWrite, in: apps, body: .json, goesOn: true,
                handler: consumption.forCase),
            Route(
                .post, cases + "/{caseId}:decline", .consumptionWrite, in: apps, body: .optionalJSON,
                handler: refund.decline),
            Route(.get, deliveries, .consumptionRead, in: apps, handler: delivery.list),
            Route(.get, deliveries + "/{deliveryId}", .consumptionRead, in: apps, handler: delivery.get),
            Route(.post, deliveries + "/{deliveryId}:cancel", .consumptionWrite, in: apps, handler: delivery.cancel),
        ]
    }

    /// What Apple has sent, and everything that happens.
    private static func received(_ services: Services) -> [Route] {
        let apps = services.apps
        let received = "/v1/apps/{app}/notifications"
        let notifications = ReceivedNotificationRoutes(
            service: services.refunds.notifications, tokens: services.purchases.pageTokens)
        let events = EventRoutes(feed: services.operations.events)
        return [
            Route(.get, received, .notificationsRead, in: apps, handler: notifications.list),
            Route(.post, received, .notificationsWrite, in: apps, body: .json, handler: notifications.forward),
            Route(.get, received + "/{notificationUUID}", .notificationsRead, in: apps, handler: notifications.get),
            Route(.get, "/v1/apps/{app}/events", .eventsRead, in: apps, handler: events.list),
        ]
    }

    /// Who is told what happens.
    private static func callbacks(_ services: Services) -> [Route] {
        let (apps, path) = (services.apps, "/v1/apps/{app}/callbacks")
        let (callbacks, one) = (CallbackRoutes(service: services.callbacks.service), path + "/{callbackId}")
        return [
            Route(.get, path, .callbacksManage, in: apps, handler: callbacks.list),
            Route(.post, path, .callbacksManage, in: apps, body: .json, handler: callbacks.add),
            Route(.get, one, .callbacksManage, in: apps, handler: callbacks.get),
            Route(.patch, one, .callbacksManage, in: apps, body: .json, handler: callbacks.change),
            Route(.delete, one, .callbacksManage, in: apps, handler: callbacks.remove),
            Route(.post, one + ":rotateSecret", .callbacksManage, in: apps, handler: callbacks.rotateSecret),
            Route(.post, one + ":test", .callbacksManage, in: apps, handler: callbacks.test),
            Route(.post, one + ":replay", .callbacksManage, in: apps, body: .json, handler: callbacks.replay),
            Route(.get, one + "/attempts", .callbacksManage, in: apps, handler: callbacks.attempts),
        ]
    }

    /// The largest body of a request with a receipt, in bytes: the longest receipt in Base64 with broken lines, and metadata.
    package static let maximumReceiptBytes = 12 << 20

    /// Receipts that apps send.
    private static func receipts(_ services: Services) -> [Route] {
        let (apps, path) = (services.apps, "/v1/apps/{app}/receipts")
        let receipts = ReceiptRoutes(
            apps: apps, service: services.purchases.receipts, tokens: services.purchases.pageTokens)
        return [
            Route(.post, path, .receiptsWrite, in: apps, body: .json, handler: receipts.upload)
                .taking(bodyBytes: maximumReceiptBytes, failingAs: ReceiptErrors.answer),
            Route(.post, "/client/itunes_connect/receipts", .scopeAnywhere(.receiptsWrite), body: .json) {
                input throws(ServiceError) in try await receipts.uploadOfAnyApp(input)
            }.taking(bodyBytes: maximumReceiptBytes, failingAs: ReceiptErrors.answer),
            Route(.get, path, .receiptsRead, in: apps, handler: receipts.list),
            Route(.get, path + "/{receiptId}", .receiptsRead, in: apps, handler: receipts.get),
            Route(
                .post, path + ":extractTransactionId", .receiptsRead, in: apps, body: .json,
                handler: receipts.extractTransactionID
            ).taking(bodyBytes: maximumReceiptBytes),
        ]
    }

    /// What Apple knows by transaction id, and what can be done with a transaction.
    private static func transactions(_ services: Services) -> [Route] {
        let (apps, gateway) = (services.apps, services.appStore)
        let transaction = "/v1/apps/{app}/transactions/{transactionId}"
        let consumption = ConsumptionRoutes(
            service: services.refunds.consumption, defaultWait: { services.refunds.consumptionWait })
        let transactions = TransactionRoutes(
            gateway: gateway, batch: services.purchases.batch, tokens: services.purchases.tokens,
            stored: services.purchases.stored)
        let lists = TransactionListRoutes(gateway: gateway)
        let subscriptions = SubscriptionRoutes(
            gateway: gateway, service: services.purchases.subscriptions, stored: services.purchases.stored,
            now: services.clock.now)
        let extensions = ExtensionRoutes(gateway: gateway)
        let signedData = SignedDataRoutes(service: services.purchases.signedData)
        return [
            Route(
                .post, "/v1/apps/{app}/signedData:verify", .transactionsRead, in: apps, body: .json,
                handler: signedData.verify),
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
                .post, transaction + "/consumption", .consumptionWrite, in: apps, body: .json, goesOn: true,
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

    /// What services know of the use of purchases.
    private static func usage(_ services: Services) -> [Route] {
        let apps = services.apps
        let usage = UsageRoutes(service: services.refunds.usage, tokens: services.purchases.pageTokens)
        let policies = PolicyRoutes(trial: services.refunds.policies)
        let transaction = "/v1/apps/{app}/transactions/{transactionId}/usage"
        return [
            Route(.put, transaction, .usageWrite, in: apps, body: .json, handler: usage.put),
            Route(.get, transaction, .usageRead, in: apps, handler: usage.ofTransaction),
            Route(.post, "/v1/apps/{app}/usage:batch", .usageWrite, in: apps, body: .json, handler: usage.batch),
            Route(.get, "/v1/apps/{app}/users/{user}/usage", .usageRead, in: apps, handler: usage.ofUser),
            Route(.get, "/v1/apps/{app}/policies", .policiesRead, in: apps, handler: policies.get),
            Route(.post, "/v1/apps/{app}/policies:try", .policiesRead, in: apps, body: .json, handler: policies.run),
        ]
    }

    /// What else can be asked of Apple about an app.
    private static func apple(_ services: Services) -> [Route] {
        let apps = services.apps
        let orders = OrderRoutes(gateway: services.appStore)
        let extensions = ExtensionRoutes(gateway: services.appStore)
        let notifications = NotificationRoutes(gateway: services.appStore, now: services.clock.now)
        let limits = LimitsRoutes(budgets: services.operations.budgets)
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

    /// What is signed for callers: what an app hands to StoreKit, and tokens for Apple.
    private static func signatures(_ services: Services) -> [Route] {
        let path = "/v1/apps/{app}/signatures/"
        let signatures = SignatureRoutes(service: services.signing)
        func route(_ kind: String, _ handler: @escaping Route.AppHandler) -> Route {
            Route(.post, path + kind, .signaturesCreate, in: services.apps, body: .json, handler: handler)
        }
        return [
            route("promotionalOffer", signatures.promotionalOffer),
            route("introductoryOffer", signatures.introductoryOffer),
            route("advancedCommerce", signatures.advancedCommerce),
            route("promotionalOfferV1", signatures.originalPromotionalOffer),
            Route(.post, "/v1/apps/{app}/tokens", .tokensMint, in: services.apps, handler: signatures.token),
        ]
    }

    /// The largest request of the listener for Apple's notifications, in bytes.
    package static let maximumNotificationBytes = 1 << 20

    /// The listener for Apple's notifications, which nobody else has anything to ask of.
    package static func webhook(_ services: Services) -> [Route] {
        let webhook = WebhookRoutes(service: services.refunds.notifications)
        // With its app, which is looked up before the body is: a stranger's guesses cost as little as may be.
        return [
            Route(.post, webhookPath + "{app}", .open, in: services.apps, body: .json, handler: webhook.receive)
        ]
    }

    private static let webhookPath = "/webhooks/apple/"

    /// Whose place a request at that listener takes when places are scarce: its source's, for each app apart.
    ///
    /// Apple's notifications for all apps come from the same few addresses, and one app's flood must not keep out the others'.
    package static func webhookHolder(of request: HTTPRequest, from source: String, _ apps: AppCatalog) -> String {
        guard let path = request.path, path.hasPrefix(webhookPath) else { return source }
        let slug = path.dropFirst(webhookPath.count).prefix { $0 != "?" }
        // Anybody can make names up.
        guard let app = try? apps.app(String(slug)) else { return source }
        return "\(source) \(app.slug)"
    }

    /// The listener for operators.
    package static func admin(
        _ services: Services, health: any HealthReporter, reloader: any ConfigurationReloader
    ) -> [Route] {
        let configuration = ConfigurationRoutes(reloader: reloader)
        let store = StoreRoutes(store: services.operations.store)
        let links = LinkImportRoutes(service: services.purchases.links)
        let receipts = ReceiptImportRoutes(service: services.purchases.receipts)
        return [
            Route(.get, "/healthz", .open) { _ in await HealthRoutes.report(health) },
            Route(.get, "/v1/apps", .open) { _ in await AppRoutes.listWithKeys(services.apps, health) },
            Route(.post, "/v1/configuration:reload", .open, handler: configuration.reload),
            Route(.post, "/v1/store:backup", .open, body: .json, handler: store.backup),
            Route(.post, "/v1/store:check", .open, handler: store.check),
            Route(
                .post, "/v1/apps/{app}/links:import", .open, in: services.apps, body: .json, handler: links.importLinks),
            Route(
                .post, "/v1/apps/{app}/receipts:import", .open, in: services.apps, body: .json,
                handler: receipts.importReceipts
            ).taking(bodyBytes: maximumReceiptBytes),
            Route(.post, "/v1/deliveries:release", .open, handler: store.release),
            Route(
                .get, "/v1/apps/{app}/users/{user}/auditPseudonym", .open, in: services.apps, body: .none,
                handler: ConsentRoutes(service: services.refunds.consent).auditPseudonym),
        ] + callers(services) + keys(services) + quarantine(services) + ofCallers(services)
    }

    /// What callers may do and operators need, too: reads and repairs that the runbook names, by the same handlers.
    private static func ofCallers(_ services: Services) -> [Route] {
        users(services) + refundRequests(services) + received(services) + apple(services) + callbacks(services)
    }

    /// Notifications that do not verify, or could not be applied.
    private static func quarantine(_ services: Services) -> [Route] {
        let received = ReceivedNotificationRoutes(
            service: services.refunds.notifications, tokens: services.purchases.pageTokens)
        let routes = QuarantineRoutes(
            quarantine: services.refunds.quarantine, tokens: services.purchases.pageTokens)
        return [
            Route(.get, "/v1/quarantine", .open, handler: routes.list),
            Route(.get, "/v1/quarantine/{id}", .open, handler: routes.get),
            Route(.post, "/v1/quarantine:retry", .open, handler: routes.retry),
            Route(
                .post, "/v1/apps/{app}/notifications/{notificationUUID}:replay", .open, in: services.apps, body: .none,
                handler: received.replay),
        ]
    }

    /// Who may call.
    private static func callers(_ services: Services) -> [Route] {
        let path = "/v1/callers"
        let callers = CallerRoutes(services.access, tokens: services.purchases.pageTokens)
        let one = path + "/{name}"
        return [
            Route(.get, path, .open, handler: callers.list),
            Route(.post, path, .open, body: .json, handler: callers.add),
            Route(.get, one, .open, handler: callers.get),
            Route(.delete, one, .open, handler: callers.remove),
            Route(.post, one + ":grant", .open, body: .json, handler: callers.grant),
            Route(.post, one + ":ungrant", .open, body: .json, handler: callers.ungrant),
            Route(.post, one + "/tokens", .open, body: .optionalJSON, handler: callers.rotate),
            Route(.delete, one + "/tokens/{tokenId}", .open, handler: callers.revokeToken),
            Route(.put, one + "/bindings/{kind}/{value}", .open, handler: callers.bind),
            Route(.delete, one + "/bindings/{kind}/{value}", .open, handler: callers.unbind),
            Route(.post, one + "/keys", .open, body: .json, handler: callers.issueKey),
            Route(.delete, one + "/keys/{keyId}", .open, handler: callers.revokeKey),
        ]
    }

    /// The signing keys, for operators.
    private static func keys(_ services: Services) -> [Route] {
        let (keys, key) = (KeyRoutes(keys: services.keys, apps: services.apps), "/v1/keys/{keyId}")
        return [
            Route(.get, "/v1/keys", .open, handler: keys.list),
            Route(.post, "/v1/keys:rewrap", .open, handler: keys.rewrap),
            Route(.get, key, .open, handler: keys.get),
            Route(.delete, key, .open, handler: keys.delete),
            Route(.post, key + ":import", .open, body: .secretPEM, handler: keys.importKey)
                .taking(bodyBytes: KeyFacts.maximumFileBytes),
            Route(.post, key + ":check", .open, handler: keys.check),
            Route(.post, key + ":activate", .open, body: .optionalJSON, handler: keys.activate),
            Route(.post, key + ":retire", .open, handler: keys.retire),
            Route(.post, key + ":revoke", .open, handler: keys.revoke),
        ]
    }

    /// The listener for the orchestrator.
    ///
    /// `metrics`: all metrics in a format.
    ///
    /// - Returns: the table.
    package static func health(
        _ health: any HealthReporter, metrics: @escaping @Sendable (MetricsFormat) -> String
    ) -> [Route] {
        [
            Route(.get, "/livez", .open) { _ in HealthRoutes.live() },
            Route(.get, "/readyz", .open) { _ in await HealthRoutes.ready(health) },
            Route(.get, "/metrics", .open) { HealthRoutes.metrics($0.headers, metrics) },
        ]
    }
}
