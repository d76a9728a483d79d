import Domain
import Foundation
import Logging
import StoreSQL
import Synchronization
import TestSupport
import Testing

@testable import StorePostgres

/// Work that one copy at a time does, and what is decided once whoever looks.
@Suite(.needsPostgres)
struct DutyTests {
    /// Who works at this moment, and who ever did.
    private final class Workers: Sendable {
        private let state = Mutex<(now: Set<String>, ever: [String], most: Int)>(([], [], 0))

        var now: Set<String> { state.withLock(\.now) }
        var ever: [String] { state.withLock(\.ever) }
        var most: Int { state.withLock(\.most) }

        func begin(_ name: String) {
            state.withLock { state in
                state.now.insert(name)
                state.ever.append(name)
                state.most = max(state.most, state.now.count)
            }
        }

        func end(_ name: String) { _ = state.withLock { $0.now.remove(name) } }
    }

    private static func work(_ workers: Workers, _ name: String) -> @Sendable (DutyLease) async -> Void {
        { _ in
            workers.begin(name)
            // Until it is told to end.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            workers.end(name)
        }
    }

    private static func duty(_ store: PostgresStore, _ holder: String) -> Duty {
        Duty(
            "work", holder: holder, store: store, clock: ServiceClock(now: { Date() }),
            logger: Logger(label: "duty") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `one copy at a time works, and another one goes on when it leaves`() async throws {
        try await PostgresFixture.run { fixture in
            let workers = Workers()
            var tasks: [String: Task<Void, Never>] = [:]
            for name in ["a", "b"] {
                let duty = Self.duty(try await fixture.open(sharing: .shared), name)
                tasks[name] = Task { await duty.run(Self.work(workers, name)) }
            }
            let first = try await Wait.value("somebody who works") { workers.now.first }
            tasks[first]?.cancel()
            await tasks[first]?.value
            _ = try await Wait.value("the other one to work") { workers.now.first { $0 != first } }
            #expect(workers.most == 1 && workers.ever.count == 2)
            for task in tasks.values { task.cancel() }
            for task in tasks.values { await task.value }
            #expect(workers.now.isEmpty)
        }
    }

    @Test func `who has lost the lease ends, and works again when it has it again`() async throws {
        try await PostgresFixture.run { fixture in
            let workers = Workers()
            let store = try await fixture.open(sharing: .shared)
            let task = Task { await Self.duty(store, "a").run(Self.work(workers, "a")) }
            _ = try await Wait.value("somebody who works") { workers.now.first }
            try await store.write("test") { try $0.execute(sql: "UPDATE lease SET holder = 'b'") }
            try await Wait.until("the work to end") { workers.now.isEmpty }
            try await store.giveBackLease("work", by: "b")
            try await Wait.until("the work to begin again") { workers.now == ["a"] }
            #expect(workers.ever == ["a", "a"])
            task.cancel()
            await task.value
        }
    }

    @Test func `a notification that was erased or applied elsewhere is not applied as it was read`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            let token = "5a5f2a8e-4f1f-4a8b-9a39-6d1a5b0a7f11"
            let stored = StoredNotification.sample("n", transaction: .sample(id: "1", token: token))
            #expect(try await here.record(stored))
            let read = try #require(try await here.unprocessedNotifications(limit: 10).first)
            _ = try await there.declare(try Link.sample(.transactionId, "1", user: token), transfer: false)
            _ = try await there.eraseUser(app: "coins", user: try UserID(token), at: CaseModel.time(1))
            _ = try await here.process(read, newCaseID: "case", at: CaseModel.time(2))
            let refundCase = try #require(try await there.refundCase(app: "coins", id: "case"))
            #expect(refundCase.purchase.appAccountToken == nil)
            _ = try await there.process(read, newCaseID: "another", at: CaseModel.time(3))
            #expect(try await there.refundCase(app: "coins", id: "another") == nil)
        }
    }

    @Test func `a policy answers a case once, whichever copies look at the same time`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            try await here.take(.sample("n", transaction: .sample(id: "1000")))
            let refundCase = try #require(
                try await here.latestCase(app: "coins", transactionID: "1000", environment: .production))
            let trace = PolicyTrace(rule: "all", facts: [], usageAt: nil)
            let purchase = Transaction.sample(id: "1000").facts
            func draft(_ id: String) throws -> DeliveryDraft {
                try .sample(id, caseID: refundCase.id, purchase: purchase, body: "{\"id\":\"\(id)\"}", policy: trace)
            }
            let first = try await here.queue(try draft("1"))
            _ = try await here.claim(at: 0)
            _ = try await here.conclude(
                "1", .refused(DeliveryFailure(reason: .appleRejected, message: "no")), at: 0.1)
            guard case .existing(let known) = try await there.accept(try draft("2")).decision else {
                Issue.record("the second answer of a policy was accepted")
                return
            }
            #expect(known.id == first.id && known.state == .refused)
        }
    }

    @Test func `progress of a search is kept by whoever knows what it replaces`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            func save(_ store: PostgresStore, _ hour: Double, replacing known: HistoryProgress?) async throws -> Bool {
                try await store.saveHistoryProgress(
                    Self.progress(hour), replacing: known, app: "coins", environment: .sandbox)
            }
            #expect(try await save(here, 1, replacing: nil))
            #expect(try await !save(there, 2, replacing: nil))
            #expect(try await save(there, 2, replacing: Self.progress(1)))
            #expect(try await !save(here, 3, replacing: Self.progress(1)))
            #expect(try await here.historyProgress(app: "coins", environment: .sandbox) == Self.progress(2))
        }
    }

    private static func progress(_ hour: Double) -> HistoryProgress {
        HistoryProgress(completeUntil: CaseModel.time(hour), search: nil)
    }

    @Test func `what Apple answered before an erasure elsewhere is not kept after it`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            try await here.keep([], notedAfter: here.erasures, at: CaseModel.time(0))
            let noted = here.erasures
            _ = try await there.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(0))
            try await here.keep([], notedAfter: noted, at: CaseModel.time(0))
            #expect(here.erasures > noted)
        }
    }
}
