package import AppStoreAPI

/// Everything that Apple would know: teams' keys, apps, accounts and what they bought.
///
/// No clock, no sockets, no signatures.
struct World: Sendable {
    /// By key id.
    var keys: [String: RegisteredKey] = [:]
    /// By bundle id.
    var apps: [String: RegisteredApp] = [:]
    /// By account id.
    var accounts: [String: AppleAccount] = [:]
    /// By transaction id.
    private(set) var records: [String: TransactionRecord] = [:]
    /// The transaction ids of each customer, oldest first.
    private(set) var transactionIDs: [Customer: [String]] = [:]
    var identifiers: Identifiers
    /// By the purchaser's original transaction id.
    var subscriptions: [String: SimulatedSubscription] = [:]
    var massExtensions: [MassExtension] = []
    /// How long a mass extension takes for each subscription, in milliseconds.
    var massExtensionPace: Int64 = 1000
    var orders = OrderBook()
    var downloads = AppDownloads()
    /// The transactions that apps have finished.
    var finished: Set<String> = []
    /// The transaction ids of each purchase, by what makes them one.
    private var purchases: [String: [String]] = [:]
    /// By original transaction id, family members' too.
    private(set) var runs: [String: SubscriptionRun] = [:]
    /// The transactions that share one, by its id.
    private var sharing: [String: [String]] = [:]
    private var events: [LifecycleEvent] = []
    /// How many changes there have been.
    private var changes = 0

    init(seed: UInt64) { identifiers = Identifiers(seed: seed) }

    // MARK: Reading

    func records(of customer: Customer) -> [TransactionRecord] {
        (transactionIDs[customer] ?? []).compactMap { records[$0] }
    }

    /// The transaction ids of the same purchase, in order.
    func siblings(of record: TransactionRecord) -> [String] { purchases[record.purchase] ?? [] }

    func record(_ transactionID: String) throws(ControlError) -> TransactionRecord {
        guard let record = records[transactionID] else { throw .notFound("there is no transaction \(transactionID)") }
        return record
    }

    func account(_ id: String) throws(ControlError) -> AppleAccount {
        guard let account = accounts[id] else { throw .notFound("there is no account \(id)") }
        return account
    }

    func app(_ bundleID: String) throws(ControlError) -> RegisteredApp {
        guard let app = apps[bundleID] else { throw .notFound("there is no app \(bundleID)") }
        return app
    }

    /// Whose app transaction an id is, if it is one.
    func customer(ofAppTransaction id: String) -> Customer? { downloads.customer(of: id) }

    /// The transaction ids of others who share a record's purchase.
    func shares(of record: TransactionRecord) -> [String] {
        siblings(of: record).flatMap { sharing[$0] ?? [] }
    }

    // MARK: Events

    /// Notes that something happened to a transaction.
    mutating func emit(_ type: NotificationTypeV2, _ subtype: Subtype? = nil, about id: String?, at date: Int64) {
        guard let id, let record = records[id] else { return }
        let app = AppInEnvironment(bundleID: record.customer.bundleID, environment: record.environment)
        events.append(LifecycleEvent(type: type, subtype: subtype, subject: .transaction(id), app: app, date: date))
    }

    /// Notes that a mass extension has finished.
    mutating func emit(_ summary: Summary, of app: AppInEnvironment, at date: Int64) {
        events.append(
            LifecycleEvent(
                type: .renewalExtension, subtype: .summary, subject: .summary(summary), app: app, date: date))
    }

    /// Gives out what happened since the last time, in order.
    mutating func takeEvents() -> [LifecycleEvent] {
        defer { events = [] }
        return events
    }

    // MARK: Changing

    /// The customer's app transaction id, which never changes once given.
    mutating func appTransactionID(of customer: Customer) -> String {
        if let id = downloads.id(of: customer) { return id }
        let id = identifiers.appTransaction()
        downloads.add(id, of: customer)
        return id
    }

    /// Keeps a new transaction under the id in its payload.
    ///
    /// What a family member gets is `sharedFrom` the purchaser's transaction. A restore belongs to the order of the transaction
    /// that was `restored`; all others are orders of their own.
    mutating func insert(
        _ payload: TransactionPayload, of customer: Customer, in environment: SimulatedEnvironment,
        sharedFrom: String? = nil, restored: String? = nil
    ) {
        guard let id = payload.transactionId else { return }
        changes += 1
        let record = TransactionRecord(
            customer: customer, environment: environment, payload: payload, modification: changes,
            sharedFrom: sharedFrom)
        records[id] = record
        transactionIDs[customer, default: []].append(id)
        purchases[record.purchase, default: []].append(id)
        if restored == nil { continueRun(with: record) }
        if let sharedFrom {
            sharing[sharedFrom, default: []].append(id)
        } else if let restored {
            orders.add(id, toOrderOf: restored)
        } else {
            orders.open(identifiers.order(), with: id)
        }
    }

    /// Takes notice of a subscription's new period, unless it is one of the past.
    private mutating func continueRun(with record: TransactionRecord) {
        guard record.payload.type == .autoRenewableSubscription, let id = record.payload.transactionId,
            let original = record.payload.originalTransactionId, let begin = record.payload.purchaseDate
        else { return }
        guard let run = runs[original], let last = records[run.latestID]?.payload else {
            runs[original] = SubscriptionRun(latestID: id, start: begin)
            return
        }
        guard begin >= last.purchaseDate ?? begin else { return }
        runs[original]?.latestID = id
        let gap = begin - (last.expiresDate ?? begin)
        if gap > SimulatedSubscription.longestGap(in: record.environment) { runs[original]?.start = begin }
    }

    /// Changes a transaction, which thereby moves to the end of the history.
    mutating func modify(_ transactionID: String, _ change: (inout TransactionPayload) -> Void) {
        guard records[transactionID] != nil else { return }
        changes += 1
        records[transactionID]?.modification = changes
        if var payload = records[transactionID]?.payload {
            change(&payload)
            records[transactionID]?.payload = payload
        }
    }
}

/// Which of Apple's two servers is played; data of one is unknown to the other.
package enum SimulatedEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    /// The value in Apple's payloads.
    package var wireValue: Environment { Environment(rawValue: rawValue) }

    /// The one that this is not.
    var other: SimulatedEnvironment { self == .production ? .sandbox : .production }
}

/// An app on one of Apple's two servers, which know nothing of each other's settings.
struct AppInEnvironment: Sendable, Hashable {
    let bundleID: String
    let environment: SimulatedEnvironment
}

/// What Apple's histories are about: an Apple Account in an app.
struct Customer: Sendable, Hashable {
    let accountID: String
    let bundleID: String
}

/// Something that happened to a purchase or subscription, of which Apple notifies the app.
struct LifecycleEvent: Sendable {
    /// What it is about.
    enum Subject: Sendable {
        /// A transaction, by its id.
        case transaction(String)
        /// A mass extension as a whole.
        case summary(Summary)
    }

    let type: NotificationTypeV2
    let subtype: Subtype?
    let subject: Subject
    let app: AppInEnvironment
    /// UNIX milliseconds.
    let date: Int64
}
