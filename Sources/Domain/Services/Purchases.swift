package import Foundation
package import Logging

/// What is known of users and of what they bought.
package struct Purchases: Sendable {
    package let overview: UserOverviewService
    /// Everything that is kept of a user, for the user.
    package let export: UserExportService
    package let lists: UserPurchasesService
    package let subscriptions: UserSubscriptionsService
    /// What is kept of purchases, for when Apple cannot be asked.
    package let stored: StoredStateService
    package let batch: TransactionBatchService
    package let links: LinkService
    package let tokens: TokenService
    /// Verifies what apps were given by StoreKit.
    package let signedData: SignedDataService
    package let receipts: ReceiptService
    /// Asks Apple about receipts that wait for its answer.
    package let receiptConfirmer: ReceiptConfirmer
    /// Of lists that the store pages.
    package let pageTokens: PageTokenCoder

    package struct Ports: Sendable {
        package var links: any LinkStore
        package var memory: any TransactionMemory
        package var receipts: any ReceiptStore
        package var exports: any UserExportStore
        package var storedState: any StoredStateStore
        package var receiptReader: any ReceiptReader
        package var appStore: any AppStoreServerAPI
        package var signedData: any SignedDataChecker
        package var pageTokens: PageTokenCoder
        /// Whether other copies of the daemon may be asked for a list's later pages.
        package var isShared: Bool
        package var clock: ServiceClock
        /// Makes an id that cannot be guessed.
        package var makeSnapshotID: @Sendable () -> String
        /// Makes an id ordered by the time given.
        package var makeID: @Sendable (Date) -> String
        /// SHA-256.
        package var digest: @Sendable ([UInt8]) -> [UInt8]
        package var logger: Logger
    }

    init(_ ports: Ports, audit: any AuditTrail, settings: CurrentSettings, snapshots: SnapshotCache) {
        let (now, receiptPolicy) = (ports.clock.now, settings.value.receipts)
        overview = UserOverviewService(
            gateway: ports.appStore, links: ports.links, memory: ports.memory, now: now)
        export = UserExportService(store: ports.exports, audit: audit, now: now)
        lists = UserPurchasesService(
            gateway: ports.appStore, links: ports.links, memory: ports.memory, snapshots: snapshots,
            tokens: ports.pageTokens, isShared: ports.isShared, now: now, makeSnapshotID: ports.makeSnapshotID)
        subscriptions = UserSubscriptionsService(
            gateway: ports.appStore, links: ports.links, memory: ports.memory, now: now)
        stored = StoredStateService(store: ports.storedState)
        batch = TransactionBatchService(gateway: ports.appStore)
        links = LinkService(store: ports.links, audit: audit, now: now)
        tokens = TokenService(gateway: ports.appStore, links: ports.links, now: now)
        signedData = SignedDataService(
            checker: ports.signedData, links: ports.links, memory: ports.memory, gateway: ports.appStore, now: now)
        receiptConfirmer = ReceiptConfirmer(
            gateway: ports.appStore, store: ports.receipts, apps: settings.apps, policy: receiptPolicy,
            clock: ports.clock, logger: ports.logger)
        receipts = ReceiptService(
            reader: ports.receiptReader, store: ports.receipts, confirmer: receiptConfirmer,
            policy: receiptPolicy, audit: audit, clock: ports.clock, makeID: ports.makeID, digest: ports.digest)
        pageTokens = ports.pageTokens
    }
}
