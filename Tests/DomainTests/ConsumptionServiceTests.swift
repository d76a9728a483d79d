import Domain
import Foundation
import Logging
import TestSupport
import Testing

struct ConsumptionServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let store = InMemoryLinkStore()
    private let gateway = FakeAppStoreGateway(accounts: [[.sample(id: "1", account: "A")]])

    private var service: ConsumptionService {
        ConsumptionService(
            gateway: gateway, links: store, now: { Date(timeIntervalSince1970: 10_000) }, makeID: { _ in "delivery" },
            logger: Logger(label: "test"))
    }

    private func send(
        user: String?, percentage: Int32? = nil, preference: ConsumptionV2.RefundPreference? = nil,
        deadline: Date? = nil
    ) async throws -> Delivery {
        let answer = ConsumptionV2(
            deliveryStatus: .delivered, sampleContentProvided: true, consumptionPercentage: percentage,
            refundPreference: preference)
        return try await service.send(
            ConsumptionService.Request(
                caller: "billing", user: try user.map { try UserID($0) }, transactionID: "1", answer: .v2(answer),
                deadline: deadline),
            UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600)))
    }

    @Test func `what Apple accepts teaches a link`() async throws {
        let delivery = try await send(user: "alice")
        #expect(delivery.state == .accepted)
        #expect(delivery.deadline == Date(timeIntervalSince1970: 10_000 + 12 * 3600))
        let links = try await store.links(app: "coins", user: try UserID("alice"))
        #expect(links.map(\.target) == [LinkTarget(.transactionId, "1")])
        #expect(links.first?.source == .consumption && links.first?.environment == .production)
    }

    @Test func `what Apple refuses teaches nothing, and tells of the delivery`() async throws {
        gateway.failConsumption(
            with: ServiceError(
                .appleRejected, "no",
                apple: AppleFailure(
                    httpStatus: 400, errorCode: 4_000_047, errorName: nil, errorMessage: nil, environment: .production,
                    endpoint: "x")))
        do {
            _ = try await send(user: "alice")
            Issue.record("accepted")
        } catch let error as ServiceError {
            #expect(error.delivery?.state == .refused)
        }
        #expect(try await store.links(app: "coins", user: try UserID("alice")).isEmpty)
    }

    @Test func `the purchase of another user is refused before anything is sent`() async throws {
        _ = try await store.declare(try Link.sample(.transactionId, "1", user: "bob"), transfer: false)
        await #expect(throws: ServiceError(.ownedByAnotherUser, "")) { try await send(user: "alice") }
        #expect(gateway.questions == [.transaction("1")])
    }

    @Test func `without a user the owner does not matter and nothing is learnt`() async throws {
        _ = try await store.declare(try Link.sample(.transactionId, "1", user: "bob"), transfer: false)
        #expect(try await send(user: nil).user == nil)
        #expect(try await store.links(app: "coins", targets: [LinkTarget(.transactionId, "1")]).count == 1)
    }

    @Test func `a warning of the rules is part of the delivery`() async throws {
        #expect(try await send(user: "alice", preference: .grantProrated).warnings.count == 1)
    }

    @Test func `a deadline can only shorten, and must lie ahead`() async throws {
        let late = Date(timeIntervalSince1970: 10_000 + 20 * 3600)
        #expect(try await send(user: nil, deadline: late).deadline == Date(timeIntervalSince1970: 10_000 + 12 * 3600))
        await #expect(throws: ServiceError(.invalidRequest, "")) {
            try await send(user: nil, deadline: Date(timeIntervalSince1970: 10_000))
        }
    }
}
