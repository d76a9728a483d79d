import Synchronization
import TestSupport
import Testing

@testable import Postgres

@Suite(.needsPostgres)
struct PostgresListenerTests {
    /// What a listener has told.
    private final class Heard: Sendable {
        private let events = Mutex<[PostgresListener.Event]>([])

        func take(_ event: PostgresListener.Event) { events.withLock { $0.append(event) } }

        func count(_ isOne: (PostgresListener.Event) -> Bool) -> Int { events.withLock { $0.count(where: isOne) } }
    }

    @Test func `what is told a channel is heard, and after a loss it listens again`() async throws {
        let configuration = try await PostgresServer.running().makeDatabase()
        let (pool, heard) = (PostgresPool(configuration, size: 1), Heard())
        let listener = try PostgresListener(configuration, channels: ["changes"], retryDelay: .milliseconds(1)) {
            heard.take($0)
        }
        func tell(_ text: String) async throws {
            try await pool.withConnection { _ = try $0.execute("SELECT pg_notify('changes', $1)", [.text(text)]) }
            let expected = PostgresConnection.Notification(channel: "changes", payload: text)
            try await Wait.until("\(text) to be heard") { heard.count { $0 == .notified(expected) } == 1 }
        }
        try await Wait.until("the listener to listen") { heard.count { $0 == .listening } == 1 }
        try await tell("first")
        try await PostgresServer.running().endConnections(to: configuration)
        try await Wait.until("the listener to listen again") { heard.count { $0 == .listening } == 2 }
        #expect(heard.count { if case .lost = $0 { true } else { false } } >= 1)
        try await tell("second")
        await listener.shutdown()
        await pool.shutdown()
    }

    @Test func `it ends while there is no server`() async throws {
        let (nowhere, heard) = (PostgresConfiguration(host: "/nonexistent", database: "a", user: "b"), Heard())
        let listener = try PostgresListener(nowhere, channels: ["changes"], retryDelay: .seconds(Wait.seconds)) {
            heard.take($0)
        }
        try await Wait.until("the first loss") { heard.count { _ in true } == 1 }
        await listener.shutdown()
    }
}
