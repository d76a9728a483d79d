package import Domain

/// Every store port, over an engine that lends connections: the rules are here, once, and what an engine is about is with it.
///
/// An engine promises that one operation sees all that was written before it and nothing of what goes on beside it, that writes
/// are one after the other, in the order in which they are committed, and that what a write has written is on disk when it
/// returns.
package protocol SQLStore: AppleAnswerStore, AuditPseudonymStore, BudgetStore, CallbackStore, CallerStore, CaseStore,
    ConsentStore, CopyStore, DeliveryClaimStore, DeliveryStore, EventStore, KeyStore, LinkStore, NotificationStore,
    QuarantineStore,
    ReceiptStore,
    RefundReportStore, ReleaseMemory, SharedBudgetStore, StoredStateStore, StoreMaintenance, TransactionMemory,
    UsageStore, UserExportStore
{
    /// Whether other processes may have it at the same time.
    var sharing: StoreSharing { get }
    /// Told of each commit that kept events.
    var changes: ChangeSignal { get }
    /// What opens of this installation's own secrets.
    var secrets: OpenedSecrets { get }
    /// The notifications that this process has just recorded.
    var fresh: FreshNotifications { get }
    /// How many identifiers are remembered before the oldest are forgotten.
    var maximumKnownIdentifiers: Int { get }

    /// Runs one read-only snapshot.
    func read<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value

    /// Runs a short read, which finds a row or none by an index.
    func glance<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value

    /// Runs one atomic operation; what it wrote is on disk when this returns.
    ///
    /// A task that is cancelled before its operation is taken over changes nothing; after that the operation runs to its end.
    /// The body may run more than once, and the last time counts.
    func write<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value

    /// Overwrites what was removed and still stands somewhere, such as in a log.
    func overwriteRemoved() async throws(ServiceError)

    /// What is wrong with what is kept, one sentence each; empty when nothing is.
    func checkIntegrity() async throws(ServiceError) -> [String]

    // MARK: Health

    /// Why nothing can be written, or read, at present; nil when it can, as far as has been tried.
    var problem: String? { get }
    /// How many writes wait for their turn.
    var waitingWrites: Int { get }
    /// Takes note that a write does not come to an end.
    func noteHang(_ patience: Duration)
    /// Returns once what carries out writes has just run, for the watchdog.
    func heartbeat() async
    /// Ends all work; every later call is `storeUnavailable`.
    func close() async
}

extension SQLStore {
    var tombstones: Tombstones { secrets.tombstones }

    /// Applies notifications within a transaction.
    var effects: NotificationEffects {
        NotificationEffects(tombstones: tombstones, maximumKnownIdentifiers: maximumKnownIdentifiers)
    }

    /// Whether a write succeeds now; the caller bounds the wait.
    package func isUsable() async -> Bool {
        do {
            try await write("probe") { database in
                try database.execute(sql: "UPDATE probe SET count = count + 1 WHERE id = 1")
            }
            // By connections of their own, which may have been lost with those that write.
            _ = try await read("probe") { try Int.fetchOne($0, sql: "SELECT count FROM probe WHERE id = 1") }
            return true
        } catch {
            return false
        }
    }
}

/// What a store does, by what it costs.
package enum StoreOperation: String, Sendable, CaseIterable {
    /// A short read, which finds a row or none by an index.
    case lookUp
    case read
    /// A change, on disk when it ends.
    case write

    /// Is told of an operation and how long it took from its call to its end, whatever that was.
    package typealias Timer = @Sendable (StoreOperation, Duration) -> Void
}

/// The questions that a store may be asked at once.
enum SQLList {
    /// The most values of one `IN` list.
    static let maximumLength = 500

    static func placeholders(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }

    /// The condition that a column has a value, or none, with what it takes for arguments: not every engine finds NULL by an
    /// index where it is told only when the statement runs.
    static func condition(_ column: String, is value: String?) -> (sql: String, arguments: SQLArguments) {
        value.map { ("\(column) = ?", [$0]) } ?? ("\(column) IS NULL", [])
    }
}
