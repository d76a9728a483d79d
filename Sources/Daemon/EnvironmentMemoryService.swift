import ServiceLifecycle

/// Writes at intervals what Apple's answers told of identifiers, and a last time when everything that calls Apple has
/// ended.
struct EnvironmentMemoryService<C: Clock<Duration>>: Service {
    /// How much a kill may forget; each forgotten entry costs one call.
    private let interval: Duration
    private let clock: C
    private let save: @Sendable () async -> Void

    init(interval: Duration = .seconds(1), clock: C, save: @escaping @Sendable () async -> Void) {
        self.interval = interval
        self.clock = clock
        self.save = save
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: interval)) != nil { await save() }
        }
        await save()
    }
}
