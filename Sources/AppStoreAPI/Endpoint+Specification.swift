/// What Apple's documentation says of one call.
struct Specification: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }

    let name: String
    let method: Method
    let pathTemplate: String
    let api: Endpoint.API
    let repetition: Endpoint.Repetition
    let isInSandbox: Bool

    init(
        _ name: String, _ method: Method, _ pathTemplate: String, _ api: Endpoint.API = .appStoreServer,
        repetition: Endpoint.Repetition = .safe, isInSandbox: Bool = true
    ) {
        self.name = name
        self.method = method
        self.pathTemplate = pathTemplate
        self.api = api
        self.repetition = repetition
        self.isInSandbox = isInSandbox
    }
}

extension Endpoint.Operation {
    /// The table of all calls.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi,
    /// https://developer.apple.com/documentation/retentionmessaging,
    /// https://developer.apple.com/documentation/advancedcommerceapi
    var specification: Specification {
        switch self {
        // App Store Server API.
        case .getTransactionHistory:
            Specification("Get Transaction History", .get, "/inApps/v2/history/{transactionId}")
        case .getTransactionHistoryV1:
            Specification(
                "Get Transaction History V1", .get, "/inApps/v1/history/{transactionId}")
        case .getTransactionInfo:
            Specification(
                "Get Transaction Info", .get, "/inApps/v1/transactions/{transactionId}")
        case .getAppTransactionInfo:
            Specification(
                "Get App Transaction Info", .get, "/inApps/v1/transactions/appTransactions/{transactionId}")
        case .getAllSubscriptionStatuses:
            Specification(
                "Get All Subscription Statuses", .get, "/inApps/v1/subscriptions/{transactionId}"
            )
        case .setAppAccountToken:
            Specification(
                "Set App Account Token", .put, "/inApps/v1/transactions/{originalTransactionId}/appAccountToken")
        case .lookUpOrderID:
            Specification(
                "Look Up Order ID", .get, "/inApps/v1/lookup/{orderId}", isInSandbox: false)
        case .sendConsumptionInformation:
            Specification(
                "Send Consumption Information", .put, "/inApps/v2/transactions/consumption/{transactionId}")
        case .sendConsumptionInformationV1:
            Specification(
                "Send Consumption Information V1", .put, "/inApps/v1/transactions/consumption/{transactionId}")
        case .getRefundHistory:
            Specification("Get Refund History", .get, "/inApps/v2/refund/lookup/{transactionId}")
        case .getRefundHistoryV1:
            Specification(
                "Get Refund History V1", .get, "/inApps/v1/refund/lookup/{originalTransactionId}"
            )
        case .extendSubscriptionRenewalDate:
            Specification(
                "Extend a Subscription Renewal Date", .put, "/inApps/v1/subscriptions/extend/{originalTransactionId}",
                repetition: .sameIdentifier)
        case .extendSubscriptionRenewalDatesForAllActiveSubscribers:
            Specification(
                "Extend Subscription Renewal Dates for All Active Subscribers", .post,
                "/inApps/v1/subscriptions/extend/mass", repetition: .sameIdentifier)
        case .getStatusOfSubscriptionRenewalDateExtensions:
            Specification(
                "Get Status of Subscription Renewal Date Extensions", .get,
                "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}")
        case .getNotificationHistory:
            Specification("Get Notification History", .post, "/inApps/v1/notifications/history")
        case .requestTestNotification:
            Specification(
                "Request a Test Notification", .post, "/inApps/v1/notifications/test",
                repetition: .never)
        case .getTestNotificationStatus:
            Specification(
                "Get Test Notification Status", .get, "/inApps/v1/notifications/test/{testNotificationToken}")
        case .finishTransaction:
            Specification(
                "Finish Transaction", .post, "/inApps/v1/transactions/{transactionId}/finish", repetition: .never)
        // Retention Messaging API.
        case .uploadImage:
            Specification(
                "Upload Image", .put, "/inApps/v1/messaging/image/{imageIdentifier}", .retentionMessaging,
                repetition: .never)
        case .deleteImage:
            Specification(
                "Delete Image", .delete, "/inApps/v1/messaging/image/{imageIdentifier}", .retentionMessaging)
        case .getImageList:
            Specification("Get Image List", .get, "/inApps/v1/messaging/image/list", .retentionMessaging)
        case .uploadMessage:
            Specification(
                "Upload Message", .put, "/inApps/v1/messaging/message/{messageIdentifier}", .retentionMessaging,
                repetition: .never)
        case .deleteMessage:
            Specification(
                "Delete Message", .delete, "/inApps/v1/messaging/message/{messageIdentifier}", .retentionMessaging)
        case .getMessageList:
            Specification("Get Message List", .get, "/inApps/v1/messaging/message/list", .retentionMessaging)
        case .configureDefaultMessage:
            Specification(
                "Configure Default Message", .put, "/inApps/v1/messaging/default/{productId}/{locale}",
                .retentionMessaging)
        case .deleteDefaultMessage:
            Specification(
                "Delete Default Message", .delete, "/inApps/v1/messaging/default/{productId}/{locale}",
                .retentionMessaging)
        case .getDefaultMessage:
            Specification(
                "Get Default Message", .get, "/inApps/v1/messaging/default/{productId}/{locale}", .retentionMessaging)
        case .configureRealtimeURL:
            Specification(
                "Configure Realtime URL", .put, "/inApps/v1/messaging/realtime/url", .retentionMessaging)
        case .deleteRealtimeURL:
            Specification("Delete Realtime URL", .delete, "/inApps/v1/messaging/realtime/url", .retentionMessaging)
        case .getRealtimeURL:
            Specification("Get Realtime URL", .get, "/inApps/v1/messaging/realtime/url", .retentionMessaging)
        case .initiatePerformanceTest:
            Specification(
                "Initiate Performance Test", .post, "/inApps/v1/messaging/performanceTest", .retentionMessaging,
                repetition: .never)
        case .getPerformanceTestResults:
            Specification(
                "Get Performance Test Results", .get, "/inApps/v1/messaging/performanceTest/result/{requestId}",
                .retentionMessaging)
        // Advanced Commerce API, server calls.
        case .requestRefund:
            Specification(
                "Request Refund", .post, "/advancedCommerce/v1/transaction/requestRefund/{transactionId}",
                .advancedCommerce, repetition: .sameIdentifier)
        case .cancelSubscription:
            Specification(
                "Cancel Subscription", .post, "/advancedCommerce/v1/subscription/cancel/{transactionId}",
                .advancedCommerce, repetition: .sameIdentifier)
        case .revokeSubscription:
            Specification(
                "Revoke Subscription", .post, "/advancedCommerce/v1/subscription/revoke/{transactionId}",
                .advancedCommerce, repetition: .sameIdentifier)
        case .changeSubscriptionMetadata:
            Specification(
                "Change Subscription Metadata", .post,
                "/advancedCommerce/v1/subscription/changeMetadata/{transactionId}", .advancedCommerce,
                repetition: .sameIdentifier)
        case .changeSubscriptionPrice:
            Specification(
                "Change Subscription Price", .post, "/advancedCommerce/v1/subscription/changePrice/{transactionId}",
                .advancedCommerce, repetition: .sameIdentifier)
        case .migrateSubscription:
            Specification(
                "Migrate Subscription", .post, "/advancedCommerce/v1/subscription/migrate/{transactionId}",
                .advancedCommerce, repetition: .sameIdentifier)
        }
    }
}
