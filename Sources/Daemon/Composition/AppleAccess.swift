import AppStoreClient
import Curl
import Domain
import KeyCustody
import Logging
import ServiceLifecycle
import StoreSQLite

/// The way to Apple: transport, tokens, budgets, and the client that joins them.
struct AppleAccess: Sendable {
    let client: AppStoreClient
    let curl: CurlClient
    let budgets: RateBudgets
    private let checkpoint: BudgetCheckpoint
    private let minter: TokenMinter

    /// Wires the parts, and takes up what is used of the budgets.
    ///
    /// - Throws: `CurlError`, `storeUnavailable`.
    init(
        _ configuration: DaemonConfiguration, keys: KeyRing, callers: CallerKeyService, store: SQLiteStore,
        verifier: SignedDataVerifier, meter: UpstreamMeter, metrics: PrometheusRegistry, _ surroundings: Surroundings
    ) async throws {
        let (now, logger) = (surroundings.now, surroundings.logger)
        curl = try CurlClient(configuration: .init(configuration.apple))
        minter = TokenMinter(keys: keys, clock: TokenMinter.Clock(now: now), metrics: metrics, logger: logger)
        budgets = RateBudgets(
            policy: RatePolicy(configuration, callers: try await callers.callers()), clock: BudgetClock(now: now))
        checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
        try await checkpoint.restore()
        client = AppStoreClient(
            configuration: UpstreamConfiguration(configuration.apple), client: curl, tokens: minter,
            budget: MeteredBudget(budgets, metrics: metrics), verifier: verifier, memory: store,
            clock: UpstreamClock(now: now), meter: meter, logger: logger)
    }

    /// What runs as long as Apple is called, in dependency order.
    func services(apps: AppCatalog, logger: Logger) -> [any Service] {
        [
            BudgetCheckpointService(checkpoint: checkpoint, clock: ContinuousClock(), logger: logger),
            EnvironmentMemoryService(clock: ContinuousClock(), save: client.saveEnvironments),
            CurlService(client: curl), TokenRefresher(minter: minter, apps: apps.all),
        ]
    }
}
