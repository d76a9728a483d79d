import Domain
import Logging
import Synchronization
import TestSupport
import Testing

@testable import AppStoreClient

/// What is learnt about identifiers is written behind the answers, never in front of them.
struct EnvironmentMemoryTests {
    private let coins = App(slug: "coins", bundleID: "com.example.coins")
    private let gems = App(slug: "gems", bundleID: "com.example.gems")
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `the store hears of what was learnt with the next save, once for each app`() async throws {
        let store = CountingMemory()
        let memory = EnvironmentMemory(store: store, logger: quiet)
        for number in 0..<50 {
            memory.remember(.sandbox, of: "\(number)", app: coins)
            memory.remember(.sandbox, of: "\(number)", app: coins)
            memory.remember(.production, of: "\(number)", app: gems)
        }
        #expect(await store.writes.isEmpty)
        #expect(await memory.environment(of: "7", app: coins) == .sandbox, "known at once nevertheless")
        await memory.save()
        #expect(await store.writes.sorted() == ["coins 50", "gems 50"])
        await memory.save()
        #expect(await store.writes.count == 2)
        let fresh = EnvironmentMemory(store: store, logger: quiet)
        #expect(await fresh.environment(of: "7", app: gems) == .production)
        await fresh.save()
        #expect(await store.writes.count == 2, "what came from the store need not go there")
    }

    @Test func `what cannot be written is forgotten, and told once for each app`() async throws {
        let (store, log) = (CountingMemory(), RecordedLog())
        await store.breakDown()
        let memory = EnvironmentMemory(store: store, logger: log.logger)
        for number in 0..<9 { memory.remember(.sandbox, of: "\(number)", app: coins) }
        await memory.save()
        #expect(log.lines.map(\.message) == ["Environments cannot be remembered"])
        #expect(log.lines.first?.metadata["count"] == "9")
        await memory.save()
        #expect(log.lines.count == 1)
    }

    @Test func `neither what is kept nor what waits to be written grows without bound`() async throws {
        let store = CountingMemory()
        let memory = EnvironmentMemory(store: store, capacity: 10, logger: quiet)
        for number in 0..<100 { memory.remember(.sandbox, of: "\(number)", app: coins) }
        #expect(await memory.environment(of: "99", app: coins) == .sandbox)
        #expect(await store.reads == 0)
        #expect(await memory.environment(of: "50", app: coins) == nil)
        #expect(await store.reads == 1)
        await memory.save()
        #expect(await store.writes == ["coins 10"])
    }

    @Test func `what is asked for stays, however much else comes`() async throws {
        let store = CountingMemory()
        let memory = EnvironmentMemory(store: store, capacity: 10, logger: quiet)
        memory.remember(.sandbox, of: "hot", app: coins)
        for number in 0..<100 {
            memory.remember(.sandbox, of: "\(number)", app: coins)
            #expect(await memory.environment(of: "hot", app: coins) == .sandbox)
        }
        #expect(await store.reads == 0)
    }
}

/// A memory that counts what it is asked to do.
private actor CountingMemory: TransactionMemory {
    private let memory = InMemoryTransactionMemory()
    private(set) var reads = 0
    /// The app and the number of entries of each write.
    private(set) var writes: [String] = []
    private var isBroken = false

    func breakDown() { isBroken = true }

    func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] {
        reads += 1
        return try await memory.known(app: app, identifiers: identifiers)
    }

    func identifiers(
        of appTransactionID: String, app: String, environment: AppStoreEnvironment, limit: Int
    ) async throws(ServiceError) -> Set<String> { [] }

    func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {
        guard !isBroken else { throw ServiceError(.storeUnavailable, "Full.") }
        writes.append("\(app) \(entries.count)")
        try await memory.remember(entries, app: app)
    }
}
