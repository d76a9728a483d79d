import Domain
import Foundation
import StoreSQL
import TestSupport
import Testing

@testable import StorePostgres

/// What copies of the daemon on one database know of each other, and what one of them at a time may have.
@Suite(.needsPostgres)
struct CopyStoreTests {
    /// No time of this test's: the database's own clock counts.
    private static let ignored = Date(timeIntervalSince1970: 0)

    @Test func `a copy is known from its first word to its last`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            #expect(here.isShared)
            try await here.beat(copy: "a", for: .seconds(60), at: Self.ignored)
            try await there.beat(copy: "b", for: .seconds(60), at: Self.ignored)
            try await here.beat(copy: "a", for: .seconds(60), at: Self.ignored)
            let living = try await there.livingCopies(at: Self.ignored)
            #expect(living.map(\.id) == ["a", "b"])
            #expect(living.allSatisfy { $0.startedAt <= $0.seenAt && $0.startedAt > Self.ignored })
            try await here.leave(copy: "a")
            #expect(try await there.livingCopies(at: Self.ignored).map(\.id) == ["b"])
        }
    }

    @Test func `a copy that says nothing any more is dead by the database's clock`() async throws {
        try await PostgresFixture.run { fixture in
            let store = try await fixture.open(sharing: .shared)
            try await store.beat(copy: "dead", for: .zero, at: .distantFuture)
            try await store.beat(copy: "alive", for: .seconds(60), at: Self.ignored)
            #expect(try await store.livingCopies(at: Self.ignored).map(\.id) == ["alive"])
        }
    }

    @Test func `one copy at a time has a lease, until it ends or is given back`() async throws {
        try await PostgresFixture.run { fixture in
            let (here, there) = (try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared))
            func take(_ store: PostgresStore, _ holder: String, _ duration: Duration) async throws -> Bool {
                try await store.takeLease("work", by: holder, for: duration, at: Self.ignored)
            }
            #expect(try await take(here, "a", .seconds(60)))
            #expect(try await !take(there, "b", .seconds(60)))
            #expect(try await there.takeLease("other work", by: "b", for: .seconds(60), at: Self.ignored))
            // Taken again by its holder, this time for no time at all: the next one has it.
            #expect(try await take(here, "a", .zero))
            #expect(try await take(there, "b", .seconds(60)))
            #expect(try await !take(here, "a", .seconds(60)))
            try await here.giveBackLease("work", by: "a")
            #expect(try await !take(here, "a", .seconds(60)))
            try await there.giveBackLease("work", by: "b")
            #expect(try await take(here, "a", .seconds(60)))
            try await here.leave(copy: "a")
            #expect(try await take(there, "b", .seconds(60)))
        }
    }

    @Test func `of many that ask at once one has the lease`() async throws {
        try await PostgresFixture.run { fixture in
            let stores = [try await fixture.open(sharing: .shared), try await fixture.open(sharing: .shared)]
            let taken = try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        try await stores[number % 2].takeLease(
                            "work", by: "copy \(number)", for: .seconds(60), at: Self.ignored)
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
        }
    }
}
