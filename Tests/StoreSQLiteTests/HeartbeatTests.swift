import Dispatch
import Domain
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

@Suite(.endsHangs)
struct HeartbeatTests {
    private final class Counted: Sendable {
        let count = Atomic(0)
    }

    @Test func `an idle store beats, again and again`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for _ in 0..<100 { await store.heartbeat() }
        #expect(store.executorHeartbeat.waitingCount == 0)
    }

    @Test func `it beats while a slow write holds the executor inside the database`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let (entered, didEnter) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        async let slow: Void = store.write("slow") { _ in
            didEnter.finish()
            gate.wait()
        }
        for await _ in entered {}
        await store.heartbeat()
        gate.signal()
        try await slow
        #expect(await store.isUsable())
    }

    @Test func `it beats while a write waits for another process's lock`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = \(Wait.seconds * 1000)")
        }
        let link = try Link.sample(.transactionId, "1", user: "alice")
        let waiting = try await WriteLock.hold(folder.path) {
            let waiting = Task { try await store.declare(link, transfer: false) }
            await store.heartbeat()
            return waiting
        }
        #expect(try await waiting.value == .insert(link))
    }

    @Test func `it does not beat while the executor is stuck elsewhere than in the database`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let gate = DispatchSemaphore(value: 0)
        store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
        defer { gate.signal() }
        let beats = Counted()
        let beat = Task {
            await store.heartbeat()
            beats.count.add(1, ordering: .releasing)
        }
        try await Wait.until("a heartbeat, or somebody who waits for it") {
            store.executorHeartbeat.waitingCount > 0 || beats.count.load(ordering: .acquiring) > 0
        }
        // Reads have executors of their own: while one runs, a beat would have had its time.
        _ = try await store.links(app: "coins", user: try UserID("alice"))
        let early = beats.count.load(ordering: .acquiring)
        gate.signal()
        await beat.value
        #expect(early == 0)
    }

    @Test func `a watchdog that gives up is let go`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let gate = DispatchSemaphore(value: 0)
        store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
        let beat = Task { await store.heartbeat() }
        beat.cancel()
        await beat.value
        gate.signal()
    }
}
