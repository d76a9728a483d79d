/// All of the App Store Server API that our rules use.
package typealias AppStoreServerAPI = AppStoreGateway & TransactionGateway & SubscriptionGateway & NotificationGateway
