import Domain
import Foundation
import TestSupport
import Testing

struct UserSubscriptionsServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    private var call: UpstreamCall {
        UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600))
    }

    @Test func `an account known by two identifiers gives each subscription once, latest purchase first`() async throws
    {
        func subscription(_ id: String, purchased: TimeInterval) -> Transaction {
            .sample(id: id, type: .autoRenewableSubscription, purchased: purchased)
        }
        let gateway = FakeAppStoreGateway(accounts: [
            [subscription("1", purchased: 10), subscription("2", purchased: 30), subscription("3", purchased: 20)]
        ])
        let store = InMemoryLinkStore()
        for id in ["1", "2"] {
            _ = try await store.declare(try Link.sample(.transactionId, id, user: "alice"), transfer: false)
        }
        let service = UserSubscriptionsService(
            gateway: gateway, links: store, memory: InMemoryTransactionMemory(),
            now: { Date(timeIntervalSince1970: 9000) })
        let list = try await service.subscriptions(
            of: try UserID("alice"), statuses: [.active], isPartialAllowed: false, call)
        #expect(list.subscriptions.map(\.subscription.originalTransactionID) == ["2", "1"])
        #expect(list.othersOmitted == 1)
        #expect(list.readAt == Date(timeIntervalSince1970: 9000))
    }

    @Test func `a user of whom no transaction is known is refused`() async throws {
        let service = UserSubscriptionsService(
            gateway: FakeAppStoreGateway(accounts: []), links: InMemoryLinkStore(),
            memory: InMemoryTransactionMemory(), now: { Date(timeIntervalSince1970: 9000) })
        await #expect(throws: ServiceError(.noTransactionKnown, "")) {
            try await service.subscriptions(of: try UserID("alice"), statuses: [], isPartialAllowed: true, call)
        }
    }

    @Test func `the status filter takes 1 to 5, each once, and nothing else`() throws {
        func filter(_ values: [String]) throws -> [SubscriptionStatus] {
            var fields = FieldReader(query: values.map { ("status", $0) })
            let statuses = SubscriptionStatus.filter(&fields)
            try fields.finish()
            return statuses
        }
        #expect(try filter([]) == [])
        #expect(try filter(["5", "1", "5"]) == [.revoked, .active])
        for bad in ["0", "6", "-1", "01", "+1", "one", "", "99999999999"] {
            let error = #expect(throws: ServiceError.self) { try filter(["1", bad, "x"]) }
            #expect(error?.violations.map(\.appleError?.code) == [4_000_031, 4_000_031], "\(bad)")
        }
    }
}
