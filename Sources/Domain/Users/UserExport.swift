package import Foundation

/// Finds and reads what is kept of a user.
///
/// Every method throws `storeUnavailable`. What is a user's here is what `ConsentStore.eraseUser(app:user:at:)` would remove or
/// change: both ask the same question.
package protocol UserExportStore: Sendable {
    /// Finds everything that is kept of a user, as one moment has it, and names the user for the audit if there is anything.
    ///
    /// The name is made in the operation that finds something to name, so that it cannot outlive an erasure.
    func inventory(app: String, user: UserID) async throws(ServiceError) -> UserInventory

    /// Reads records as they are now, in one consistent look at these.
    ///
    /// - Parameters:
    ///   - app: of which app.
    ///   - user: whose inventory it was.
    ///   - part: of which kind they are.
    ///   - keys: which ones, as an inventory has them.
    /// - Returns: those that are still there, in the order of the keys, but for those that are another user's by now.
    /// - Throws: `storeUnavailable`.
    func records(
        app: String, user: UserID, _ part: UserInventory.Part, _ keys: ArraySlice<UserInventory.Key>
    ) async throws(ServiceError) -> UserExport.Page
}

/// What is kept of a user: all that is small, and of the rest which records there are.
package struct UserInventory: Sendable, Equatable {
    /// A kind of record; the raw values are the members of our API, in the order of an export.
    package enum Part: String, Sendable, CaseIterable {
        case links
        case consent
        case usage
        case cases
        case deliveries
        case notifications
        /// What Apple has answered about purchases.
        case appleAnswers
        /// What came in the user's name and does not verify.
        case quarantinedNotifications
        case receipts
        case events

        /// How many are read at once: what bounds the memory of an export, since some may take megabytes each.
        package var pageSize: Int {
            switch self {
            case .receipts: 1
            case .notifications, .appleAnswers, .quarantinedNotifications: 20
            case .cases, .deliveries: 100
            case .links, .consent, .usage, .events: 500
            }
        }
    }

    /// What finds a record.
    package enum Key: Sendable, Hashable {
        case position(Int64)
        case id(String)
    }

    /// An `appAccountToken` of the user's, and the purchase that has it.
    package struct PurchaseToken: Sendable, Hashable {
        package let appAccountToken: String
        package let environment: AppStoreEnvironment
        /// The transaction of the signed data; the original transaction where Apple accepted the token from us.
        package let transactionID: String
        /// When Apple signed it, or accepted it.
        package let at: Date
        /// Whether it was set through us.
        package let isAccepted: Bool

        package init(
            appAccountToken: String, environment: AppStoreEnvironment, transactionID: String, at: Date, isAccepted: Bool
        ) {
            self.appAccountToken = appAccountToken
            self.environment = environment
            self.transactionID = transactionID
            self.at = at
            self.isAccepted = isAccepted
        }
    }

    /// The keys of each part that has any.
    package var keys: [Part: [Key]] = [:]
    package var purchaseTokens: [PurchaseToken] = []
    /// What callers named requests by that the user's deliveries came from.
    package var idempotencyKeys: [IdempotencyKey] = []
    /// Identifiers of purchases that came with receipts in the user's name.
    package var receiptPurchases: [String] = []
    /// Under which names the audit speaks of the user: that of this spelling of its id first.
    package var auditPseudonyms: [String] = []
    /// What guardians rescinded for the user's Apple Accounts; nil where this installation cannot tell at present.
    package var rescissions: [GuardianRescission]? = []
    /// Whether an erasure left a keyed hash of a withdrawal; nil where this installation cannot tell at present.
    package var isErasedWithdrawalKept: Bool? = false

    package init() {}

    /// How many records there are in all parts.
    package var count: Int { keys.values.reduce(0) { $0 + $1.count } }

    /// Whether nothing is kept in which the user is named; what an erasure leaves names nobody.
    package var isEmpty: Bool {
        count == 0 && purchaseTokens.isEmpty && idempotencyKeys.isEmpty && receiptPurchases.isEmpty
            && auditPseudonyms.isEmpty
    }
}

/// One record of an export.
package enum UserRecord: Sendable {
    case link(Link)
    case consent(ConsentRecord)
    case usage(UsageReport)
    case refundCase(RefundCase)
    case delivery(Delivery)
    case notification(StoredNotification)
    case answer(AppleAnswer)
    case quarantined(QuarantinedNotification)
    case receipt(Receipt)
    case event(ServiceEvent)

    /// Whose it is told to be; nil where it names nobody.
    package var user: UserID? {
        switch self {
        case .link(let link): link.user
        case .consent(let record): record.user
        case .usage(let report): report.subject.user
        case .refundCase(let refundCase): refundCase.owner
        case .delivery(let delivery): delivery.presentUser
        case .notification(let notification): notification.user
        case .answer, .quarantined: nil
        case .receipt(let receipt): receipt.user
        case .event(let event): event.user
        }
    }
}

/// Everything that is kept of a user: what was found, and the way to read it.
package struct UserExport: Sendable {
    /// Some records of one part.
    package struct Page: Sendable {
        package var records: [UserRecord] = []
        /// How many are left out because they are another user's by now, whose they must not be told of.
        package var withheld = 0

        package init() {}
    }

    package let app: String
    package let user: UserID
    package let inventory: UserInventory
    /// When the inventory was taken.
    package let takenAt: Date
    private let store: any UserExportStore

    init(app: String, user: UserID, inventory: UserInventory, takenAt: Date, store: any UserExportStore) {
        self.app = app
        self.user = user
        self.inventory = inventory
        self.takenAt = takenAt
        self.store = store
    }

    /// Reads the records of a part that follow so many others.
    ///
    /// - Returns: nil behind the last.
    /// - Throws: `storeUnavailable`.
    package func page(of part: UserInventory.Part, behind count: Int) async throws(ServiceError) -> Page? {
        let rest = (inventory.keys[part] ?? []).dropFirst(count)
        guard !rest.isEmpty else { return nil }
        return try await store.records(app: app, user: user, part, rest.prefix(part.pageSize))
    }
}

/// Gives out everything that is kept of a user, for a request of the user's own by data protection law.
package struct UserExportService: Sendable {
    private let store: any UserExportStore
    private let audit: any AuditTrail
    private let now: WallClock

    package init(store: any UserExportStore, audit: any AuditTrail, now: @escaping WallClock) {
        self.store = store
        self.audit = audit
        self.now = now
    }

    /// Finds everything that is kept of a user; nothing is given out that is not on record.
    ///
    /// - Throws: `auditUnavailable`, `storeUnavailable`.
    package func export(app: App, user: UserID, by actor: Actor) async throws(ServiceError) -> UserExport {
        let takenAt = now()
        let inventory = try await store.inventory(app: app.slug, user: user)
        try await audit.record(
            AuditAct(
                .userExported, by: actor, app: app.slug, pseudonym: inventory.auditPseudonyms.first,
                details: ["records": String(inventory.count)]))
        return UserExport(app: app.slug, user: user, inventory: inventory, takenAt: takenAt, store: store)
    }
}
