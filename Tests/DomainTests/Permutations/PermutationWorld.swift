import Domain
import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

/// One story in an app of its own: its purchase, its clock, its services.
final class PermutationWorld: Sendable {
    static let carol = "c0000000-0000-4000-8000-000000000000"

    let story: Story
    let app: App
    private let transaction: Transaction
    private let now = Mutex(Story.start)
    /// What callers were told to have come to nothing.
    private let refused = Mutex<Set<Fact>>([])
    /// The owners of the cases before anything was sent.
    private let owners = Mutex<[String: String?]>([:])

    init(story: Story, number: Int) {
        self.story = story
        app = App(slug: "app-\(number)", bundleID: "com.example.a\(number)", userIDs: .appAccountToken)
        transaction = .sample(id: "t\(number)", account: "a\(number)")
    }

    /// Lets the facts arrive.
    func tell(to store: SQLiteStore) async throws {
        var ports = Services.Ports.test(
            store: store, changes: store.changes, appStore: FakeAppStoreGateway(accounts: [[transaction]]),
            clock: ServiceClock(now: { self.now.withLock(\.self) }))
        ports.refunds.makeID = UUIDVersion7.make(at:)
        let services = Services(ports: ports, settings: Services.Settings(apps: AppCatalog([app])))
        var latest = Story.start
        for place in story.arrival {
            // Reports that are late come when everything before them has happened.
            latest = max(latest, Story.time(place))
            now.withLock { $0 = latest }
            try await take(story.facts[place], place, services, store)
        }
        try await process(store)
        let cases = try await store.refundCases(app: app.slug, CaseQuery())
        owners.withLock { owners in for one in cases { owners[one.id] = one.owner?.value } }
    }

    private func take(_ fact: Fact, _ place: Int, _ services: Services, _ store: SQLiteStore) async throws {
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        let target = LinkTarget(.transactionId, transaction.transactionID)
        if let type = fact.notificationType {
            _ = try await store.record(notification(type, place))
            if !story.isProcessedLate { try await process(store) }
            return
        }
        switch fact {
        case .link, .transfer:
            let isTransfer = fact == .transfer
            _ = try? await services.purchases.links.declare(
                app: app, user: isTransfer ? bob : alice, target: target, environment: .production,
                transfer: isTransfer, caller: "shop")
        case .tokenByPUT:
            _ = try await services.purchases.tokens.set(
                Self.carol, of: transaction.originalTransactionID, call(services))
        case .consent, .withdrawal:
            _ = try await services.refunds.consent.record(
                app: app, user: alice, isConsented: fact == .consent, source: "test", at: nil, isByGuardian: true,
                caller: "shop")
        case .erase: _ = try await services.refunds.consent.erase(app: app, user: alice, by: .caller("shop"))
        case .restart: _ = try await store.recoverDeliveries(worker: UUID().uuidString, at: now.withLock(\.self))
        case .usage, .laterUsage: try await report(fact, place, services)
        case .consumptionByPolicy: try await answerByPolicy(fact, services, store)
        case .consumptionByRoute, .consumptionByDoor:
            try await send(fact, .transaction(transaction.transactionID), caller: fact.rawValue, services)
        default: break
        }
    }

    private func notification(_ type: String, _ place: Int) -> StoredNotification {
        let isRescission = type == "RESCIND_CONSENT"
        return StoredNotification(
            app: app.slug,
            notification: AppleNotification(
                notificationUUID: String(place), notificationType: type, subtype: nil,
                signedDate: Story.time(place).milliseconds, environment: .production, payload: Array("{}".utf8),
                signed: "n.n.n", transaction: isRescission ? nil : transaction, renewalInfo: nil, appTransaction: nil,
                appTransactionID: transaction.appTransactionID),
            source: .webhook, receivedAt: now.withLock(\.self))
    }

    private func report(_ fact: Fact, _ place: Int, _ services: Services) async throws {
        var facts = UsageFacts()
        facts.consumptionPercentage = fact.usage
        let subjects: [UsageReport.Subject] = [
            .transaction(transaction.transactionID, user: nil),
            .product(try #require(transaction.productID), user: try UserID("alice")),
        ]
        let (at, recordedAt) = (Story.time(place), now.withLock(\.self))
        _ = try await services.refunds.usage.record(
            subjects.map { subject in
                UsageReport(
                    app: app.slug, subject: subject, environment: nil, facts: facts, at: at, recordedAt: recordedAt,
                    recordedBy: "shop")
            })
    }

    private func call(_ services: Services) -> UpstreamCall {
        UpstreamCall(app: app, environment: .production, deadline: ContinuousClock.now + Wait.limit)
    }

    /// Answers as the app's policy would: an open case without an answer, whose owner's consent is on record.
    private func answerByPolicy(_ fact: Fact, _ services: Services, _ store: SQLiteStore) async throws {
        try await process(store)
        let open = try await store.unansweredCases(
            app: app.slug, CaseQuery(limit: 10), deadlineBefore: .distantFuture)
        guard let one = open.first(where: { $0.owner != nil }), let owner = one.owner,
            try await store.consentHistory(app: app.slug, user: owner).last?.isConsented == true
        else {
            refused.withLock { _ = $0.insert(fact) }
            return
        }
        try await send(fact, .refundCase(one.id), caller: RefundPolicy.caller, services)
    }

    private func send(
        _ fact: Fact, _ target: ConsumptionService.Target, caller: String, _ services: Services
    ) async throws {
        let answer = ConsumptionAnswer.v2(
            ConsumptionV2(
                deliveryStatus: .delivered, sampleContentProvided: true, consumptionPercentage: fact.percentage))
        let request = ConsumptionService.Request(
            caller: caller, target: target, answer: answer, environment: .production)
        do throws(ServiceError) {
            _ = try await services.refunds.consumption.send(request, call(services))
        } catch {
            guard [.caseClosed, .deliveryUnderWay, .consentWithdrawn].contains(error.reason) else { throw error }
            refused.withLock { _ = $0.insert(fact) }
        }
    }

    /// Applies what has been told.
    private func process(_ store: SQLiteStore) async throws {
        for place in story.arrival where story.facts[place].notificationType != nil {
            let known = try await store.notification(app: app.slug, uuid: String(place))
            guard let known, known.processedAt == nil else { continue }
            let now = now.withLock(\.self)
            _ = try await store.process(known, newCaseID: UUIDVersion7.make(at: now), at: now)
        }
    }
}

// MARK: The end

extension PermutationWorld {
    /// Sends what is under way, as the dispatcher does: what is found out about a purchase, the gate, Apple's acceptance.
    static func send(_ store: SQLiteStore) async throws {
        let end = Story.time(100)
        while true {
            let claim = DeliveryClaim(
                worker: "w", now: end, lease: .seconds(60), limit: 500)
            let claimed = try await store.claimDeliveries(claim).deliveries
            guard !claimed.isEmpty else { return }
            for one in claimed {
                var delivery = one
                let number = one.transactionID.dropFirst()
                delivery.purchase = Transaction.sample(id: one.transactionID, account: "a\(number)").facts
                let obstacle = try await store.obstacle(to: delivery, at: end).obstacle
                _ = try await store.conclude(
                    DeliveryConclusion(
                        id: one.id, app: one.app, worker: "w", outcome: obstacle.map { .cancelled($0) } ?? .accepted,
                        attempts: [], mayHaveReachedApple: false, environment: .production,
                        purchase: delivery.purchase, at: end))
            }
        }
    }

    /// Compares with the model.
    func check(_ store: SQLiteStore) async throws {
        let refused = refused.withLock(\.self)
        if story.arrival == Array(story.facts.indices), !story.isProcessedLate {
            #expect(refused == PermutationModel.refusals(in: story.facts), "\(story)")
        }
        var ending = Ending()
        let owners = owners.withLock(\.self)
        ending.cases = try await store.refundCases(app: app.slug, CaseQuery())
            .sorted { $0.requestedAt < $1.requestedAt }
            .map { one in
                let owner = owners[one.id] ?? nil
                return Ending.Case(
                    requests: one.requests.compactMap { Int($0.notificationUUID) }, state: one.state,
                    outcome: one.outcome, owner: owner == Self.carol ? "carol" : owner)
            }
        let accepted = try await store.deliveries(app: app.slug, DeliveryQuery()).filter { $0.state == .accepted }
        ending.sent = story.facts.compactMap(\.percentage).filter { percentage in
            accepted.contains { String(decoding: $0.body, as: UTF8.self).contains("\(percentage)") }
        }.sorted()
        ending.usage = try await store.usage(of: .transaction(transaction.transactionID, app: app.slug))?
            .facts.consumptionPercentage
        ending.productUsage = try await store.usage(app: app.slug, user: try UserID("alice"), after: nil, limit: 2)
            .first?.report.facts.consumptionPercentage
        #expect(ending == PermutationModel.ending(of: story, refused: refused), "\(story), refused \(refused)")
    }
}
