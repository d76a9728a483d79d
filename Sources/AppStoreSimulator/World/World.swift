import AppStoreAPI

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
    /// The app's download by each customer, and back.
    private var appTransactionIDs: [Customer: String] = [:]
    private var customers: [String: Customer] = [:]
    var identifiers: Identifiers
    /// How many changes there have been.
    private var changes = 0

    init(seed: UInt64) { identifiers = Identifiers(seed: seed) }

    // MARK: Reading

    func records(of customer: Customer) -> [TransactionRecord] {
        (transactionIDs[customer] ?? []).compactMap { records[$0] }
    }

    /// The records of the same purchase: its transaction ids, in order.
    func siblings(of record: TransactionRecord) -> [TransactionRecord] {
        records(of: record.customer).filter { $0.purchase == record.purchase }
    }

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
    func customer(ofAppTransaction id: String) -> Customer? { customers[id] }

    // MARK: Changing

    /// The customer's app transaction id, which never changes once given.
    mutating func appTransactionID(of customer: Customer) -> String {
        if let id = appTransactionIDs[customer] { return id }
        let id = identifiers.appTransaction()
        appTransactionIDs[customer] = id
        customers[id] = customer
        return id
    }

    /// Keeps a new transaction under the id in its payload.
    mutating func insert(
        _ payload: TransactionPayload, of customer: Customer, in environment: SimulatedEnvironment,
        sharedFrom: String? = nil
    ) {
        guard let id = payload.transactionId else { return }
        changes += 1
        records[id] = TransactionRecord(
            customer: customer, environment: environment, payload: payload, modification: changes,
            sharedFrom: sharedFrom)
        transactionIDs[customer, default: []].append(id)
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
