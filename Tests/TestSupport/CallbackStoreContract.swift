package import Domain
import Foundation
import Testing

/// What every store must do with callbacks.
package struct CallbackStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = CallbackStore & NotificationStore & EventStore & LinkStore & ConsentStore
        & StoreMaintenance
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = owners + sender

    // MARK: What owners see

    private static let owners: [CallbackStoreContract] = [
        CallbackStoreContract("one comes back whole, and only as its app's") { store in
            let made = try draft("a", types: ["REFUND", "TEST"], products: ["gems"], environments: [.sandbox])
            let added = try #require(try await store.addCallback(made, secret: nil))
            #expect(added == made, "nothing has happened yet")
            #expect(try await store.callback(app: "coins", id: "a") == made)
            #expect(try await store.callback(app: "gems", id: "a") == nil)
            _ = try await add("b", to: store)
            #expect(try await store.callbacks(app: "coins").map(\.id) == ["a", "b"])
            #expect(try await store.callbacks(app: "gems").isEmpty)
            let states = try await store.callbackStates()
            #expect(states.map(\.id) == ["a", "b"] && states.allSatisfy { $0.state == .active && $0.waiting == 0 })
        },
        CallbackStoreContract("an app has room for ten, another app's do not count") { store in
            for number in 0..<Callback.maximumPerApp { _ = try await add("c\(number)", to: store) }
            #expect(try await store.addCallback(try draft("one more"), secret: nil) == nil)
            #expect(try await store.addCallback(try draft("other", app: "gems"), secret: nil) != nil)
            #expect(try await store.removeCallback(app: "coins", id: "c0"))
            #expect(try await store.addCallback(try draft("one more"), secret: nil) != nil)
        },
        CallbackStoreContract("a change is another revision, of one that is there") { store in
            let before = try await add("a", to: store)
            let after = try #require(
                try await store.changeCallback(app: "coins", id: "a") { $0.description = "for Ann" })
            #expect(after.description == "for Ann" && after.revision > before.revision)
            #expect(try await store.callback(app: "coins", id: "a") == after)
            #expect(try await store.changeCallback(app: "gems", id: "a") { $0.description = "no" } == nil)
        },
        CallbackStoreContract("a secret's follower comes once, and the last but one signs no more") { store in
            _ = try #require(try await store.addCallback(try draft("a", secret: 1), secret: secret("a", 1)))
            func names(at hour: Double) async throws -> [String] {
                guard let callback = try await store.callback(app: "coins", id: "a") else { return [] }
                return try await store.callbackSecrets(of: callback, at: CaseModel.time(hour)).map(\.name)
            }
            func rotate(to number: Int64, until hour: Double) async throws -> Callback? {
                try await store.rotateCallbackSecret(
                    app: "coins", id: "a", secret: secret("a", number), number: number,
                    previousUntil: CaseModel.time(hour), at: CaseModel.time(0))
            }
            #expect(try await names(at: 0) == ["a/1"])
            #expect(try await rotate(to: 2, until: 24)?.secretNumber == 2)
            #expect(try await rotate(to: 2, until: 24) == nil, "another has come meanwhile")
            #expect(try await names(at: 23) == ["a/2", "a/1"])
            #expect(try await names(at: 24) == ["a/2"])
            #expect(try await rotate(to: 3, until: 48) != nil)
            #expect(try await names(at: 1) == ["a/3", "a/2"])
            #expect(try await store.removeCallback(app: "coins", id: "a"))
            // The names are free again, so that their bytes are gone.
            _ = try #require(try await store.addCallback(try draft("a", secret: 3), secret: secret("a", 3)))
            #expect(try await names(at: 1) == ["a/3"])
        },
        CallbackStoreContract("a replay begins behind a position, active and with nothing left to send again") {
            store in
            let callback = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"), .sample("n2", type: "TEST"))
            var round = try await round(of: callback, in: store)
            round.waiting = [try await entry(0, of: callback, in: store, failedAt: 1)]
            round.pause = .failing
            round.hasMissedEvents = true
            #expect(try await store.concludeCallbackRound(round))
            let paused = try #require(try await store.callback(app: "coins", id: "a"))
            #expect(paused.state == .paused && paused.pauseReason == .failing && paused.hasMissedEvents)
            let first = try await store.events(after: 0, limit: 1)[0].position
            let begun = try #require(
                try await store.replayCallback(app: "coins", id: "a", after: first, at: CaseModel.time(2)))
            #expect(begun.state == .active && begun.pauseReason == nil && !begun.hasMissedEvents)
            let work = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(2)))
            #expect(work.waiting.isEmpty && work.events.map(\.event.subject) == ["n2"])
            #expect(try await store.replayCallback(app: "gems", id: "a", after: 0, at: CaseModel.time(2)) == nil)
        },
        CallbackStoreContract("one that is removed is gone with all that was kept of it") { store in
            let callback = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"))
            var round = try await round(of: callback, in: store)
            round.waiting = [try await entry(0, of: callback, in: store, failedAt: 1)]
            round.attempts = [attempt(1)]
            #expect(try await store.concludeCallbackRound(round))
            #expect(try await store.removeCallback(app: "gems", id: "a") == false)
            #expect(try await store.removeCallback(app: "coins", id: "a"))
            #expect(try await store.removeCallback(app: "coins", id: "a") == false)
            _ = try await add("a", to: store)
            #expect(try await store.callbackBacklog(id: "a").waiting == 0)
            #expect(try await store.callbackAttempts(id: "a", limit: 9).isEmpty)
        },
        CallbackStoreContract("of attempts the latest are kept, the latest first") { store in
            let callback = try await add("a", to: store)
            for start in stride(from: 0, to: CallbackAttempt.maximumKept + 10, by: 10) {
                var round = try await round(of: callback, in: store)
                round.attempts = (start..<start + 10).map(attempt)
                #expect(try await store.concludeCallbackRound(round))
            }
            let latest = try await store.callbackAttempts(id: "a", limit: 2)
            #expect(latest.map(\.eventID) == ["e209", "e208"])
            #expect(latest[0].status == 500 && latest[0].failure == "no" && latest[0].duration == .milliseconds(7))
            let all = try await store.callbackAttempts(id: "a", limit: 1000)
            #expect(all.count == CallbackAttempt.maximumKept && all.last?.eventID == "e10")
        },
    ]

    // MARK: What the sender asks

    private static let sender: [CallbackStoreContract] = [
        CallbackStoreContract("what happens from its making on is its to send, as its filter admits it") { store in
            try await store.take(.sample("early", type: "TEST"))
            _ = try await add("all", format: .cloudevents, to: store)
            _ = try await add("refunds", types: ["REFUND"], to: store)
            _ = try await add("gems", app: "gems", to: store)
            try await store.take(
                .sample("n1", transaction: .sample(id: "1")),
                .sample("n2", type: "REFUND", at: 1, transaction: .sample(id: "1")))
            func work(_ id: String) async throws -> [CallbackEvent] {
                try await store.callbackWork(id: id, behind: nil, at: CaseModel.time(2))?.events ?? []
            }
            let all = try await work("all")
            #expect(
                all.map(\.event.kind) == [.notificationReceived, .caseOpened, .notificationReceived, .caseDecided])
            #expect(Set(all.map(\.lane)).count == 1 && all.allSatisfy { $0.productID == "gems" })
            #expect(try await work("refunds").map(\.event.subject) == ["n2"])
            #expect(try await work("gems").isEmpty)
            #expect(try await store.activeCallbacks().map(\.id).sorted() == ["all", "gems", "refunds"])
            let latest = try await store.latestNotification(app: "coins", CallbackFilter(types: ["REFUND"]))
            #expect(latest == "n2")
        },
        CallbackStoreContract("news come in batches, and the place that its sender has looked to counts") { store in
            let callback = try await add("a", to: store)
            for number in 0...CallbackWork.batch { try await store.take(.sample("n\(number)", type: "TEST")) }
            let first = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(1)))
            #expect(first.events.count == CallbackWork.batch && first.hasMore)
            let place = CallbackPlace(revision: callback.revision, position: first.scanned)
            let second = try #require(try await store.callbackWork(id: "a", behind: place, at: CaseModel.time(1)))
            #expect(second.events.map(\.event.subject) == ["n\(CallbackWork.batch)"] && !second.hasMore)
            let stale = CallbackPlace(revision: callback.revision + 1, position: first.scanned)
            let again = try #require(try await store.callbackWork(id: "a", behind: stale, at: CaseModel.time(1)))
            #expect(again.events.count == CallbackWork.batch, "of a callback as it was before it changed")
        },
        CallbackStoreContract("a round keeps what failed with its time, and forgets what was received") { store in
            let callback = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"), .sample("n2", type: "TEST", at: 1))
            #expect(try await store.oldestPendingEvent(callback: "a") == CaseModel.time(0), "nobody has sent them")
            var failed = try await round(of: callback, in: store)
            let entry = try await entry(1, of: callback, in: store, failedAt: 2)
            failed.waiting = [entry]
            #expect(try await store.concludeCallbackRound(failed))
            let backlog = try await store.callbackBacklog(id: "a")
            #expect(backlog.waiting == 1 && backlog.failingSince == CaseModel.time(2))
            #expect(try await store.oldestPendingEvent(callback: "a") == CaseModel.time(1))
            #expect(try await store.callbackStates().map(\.waiting) == [1])
            let work = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(2)))
            #expect(work.events.isEmpty && work.waiting == [entry])
            var received = try await round(of: callback, in: store)
            received.done = [entry.position]
            #expect(try await store.concludeCallbackRound(received))
            #expect(try await store.callbackBacklog(id: "a").waiting == 0)
            #expect(try await store.oldestPendingEvent(callback: "a") == nil)
            #expect(try await store.oldestPendingEvent(callback: "nobody") == nil)
        },
        CallbackStoreContract("of a round that began before a change nothing is kept") { store in
            let callback = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"))
            var round = try await round(of: callback, in: store)
            round.attempts = [attempt(1)]
            _ = try await store.changeCallback(app: "coins", id: "a") { $0.description = "changed" }
            #expect(try await store.concludeCallbackRound(round) == false)
            #expect(try await store.callbackAttempts(id: "a", limit: 9).isEmpty)
            let work = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(1)))
            #expect(work.events.map(\.event.subject) == ["n1"], "it is sent again")
        },
        CallbackStoreContract("a paused one has no work, and gets all its time anew when it is active") { store in
            let callback = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"))
            var round = try await round(of: callback, in: store)
            round.waiting = [try await entry(0, of: callback, in: store, failedAt: 1)]
            round.pause = .gone
            #expect(try await store.concludeCallbackRound(round))
            #expect(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(2)) == nil)
            #expect(try await store.activeCallbacks().isEmpty)
            #expect(try await store.callbackStates().map(\.pauseReason) == [.gone])
            #expect(try await store.oldestPendingEvent(callback: "a") == CaseModel.time(0))
            _ = try await store.changeCallback(app: "coins", id: "a") { $0.state = .active }
            let work = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(2)))
            #expect(work.waiting.map(\.firstFailedAt) == [nil] && work.waiting.map(\.nextAttemptAt) == [nil])
        },
        CallbackStoreContract("what the log keeps no more is told as missed") { store in
            _ = try await add("a", to: store)
            try await store.take(.sample("n1", type: "TEST"))
            _ = try await store.enforceRetention(RetentionPolicy(), at: CaseModel.time(31 * 24), limit: 100)
            let work = try #require(try await store.callbackWork(id: "a", behind: nil, at: CaseModel.time(31 * 24)))
            #expect(work.hasMissedEvents && work.events.isEmpty)
        },
        CallbackStoreContract("an erased user's notification is there to be posted no more") { store in
            _ = try await store.declare(try .sample(.transactionId, "1", user: "alice"), transfer: false)
            try await store.take(
                .sample("n1", transaction: .sample(id: "1")), .sample("n2", transaction: .sample(id: "2")))
            #expect(try await store.signedNotification(app: "coins", uuid: "n1") == "n.n1.n")
            _ = try await store.eraseUser(app: "coins", user: try UserID("alice"), at: CaseModel.time(1))
            #expect(try await store.signedNotification(app: "coins", uuid: "n1") == nil)
            #expect(try await store.signedNotification(app: "coins", uuid: "n2") == "n.n2.n")
            #expect(try await store.signedNotification(app: "gems", uuid: "n2") == nil)
        },
    ]

    // MARK: Samples

    private static func draft(
        _ id: String, app: String = "coins", format: Callback.Format = .apple, types: Set<String> = [],
        products: Set<String> = [], environments: Set<AppStoreEnvironment> = [], secret: Int64 = 0
    ) throws -> Callback {
        var callback = Callback(
            id: id, app: app, format: format, url: try #require(CallbackURL("https://hooks.example.com/\(app)")),
            filter: CallbackFilter(types: types, products: products, environments: environments),
            description: "what \(app) needs", createdAt: CaseModel.time(0), createdBy: "shop")
        callback.secretNumber = secret
        return callback
    }

    private static func add(
        _ id: String, app: String = "coins", format: Callback.Format = .apple, types: Set<String> = [],
        to store: any Store
    ) async throws -> Callback {
        try #require(
            try await store.addCallback(try draft(id, app: app, format: format, types: types), secret: nil))
    }

    private static func secret(_ id: String, _ number: Int64) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: .callback, name: Callback.secretName(id, number), sealed: [UInt8(number)], masterKeyID: "one",
            createdAt: CaseModel.time(0))
    }

    private static func attempt(_ number: Int) -> CallbackAttempt {
        CallbackAttempt(
            eventID: "e\(number)", type: "TEST", startedAt: CaseModel.time(0), duration: .milliseconds(7), status: 500,
            failure: "no")
    }

    /// A round that has looked at everything and sent nothing.
    private static func round(of callback: Callback, in store: any Store) async throws -> CallbackRound {
        CallbackRound(
            id: callback.id, revision: callback.revision, position: try await store.eventBounds().latest,
            at: CaseModel.time(2))
    }

    /// The event of a number among those of the callback, as it failed at an hour, to be tried an hour later.
    private static func entry(
        _ number: Int, of callback: Callback, in store: any Store, failedAt hour: Double
    ) async throws -> CallbackEntry {
        let work = try #require(try await store.callbackWork(id: callback.id, behind: nil, at: CaseModel.time(hour)))
        let event = work.events[number]
        return CallbackEntry(
            position: event.event.position, lane: event.lane, attempts: 1, firstFailedAt: CaseModel.time(hour),
            nextAttemptAt: CaseModel.time(hour + 1), event: event)
    }
}
