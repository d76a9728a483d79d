import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Everything that is kept of a user, as callers are given it.
struct UserExportRoutesTests {
    private let user = "/v1/apps/coins/users/alice"
    private let parts = UserInventory.Part.allCases.map(\.rawValue)

    private func fixture() async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
    }

    /// Says of alice what a service may say.
    private func fill(_ fixture: RequestHandlerFixture) async throws {
        _ = try await fixture.send(.put, "\(user)/links/transactionId/1")
        _ = try await fixture.send(
            .put, "\(user)/consent",
            body:
                #"{"consented":true,"source":"ios-app 5.2","wordingVersion":"3.1","locale":"de-CH","guardian":true}"#)
        _ = try await fixture.send(
            .put, "/v1/apps/coins/transactions/1/usage", body: #"{"consumptionPercentage":25000}"#)
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        let answer =
            #"{"transactionId":"1","customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        #expect(try await fixture.send(.post, "\(user)/consumption", body: answer).status == 200)
    }

    @Test func `everything is in it, with its counts, the evidence of consent and the report that was sent`()
        async throws
    {
        let fixture = try await fixture()
        try await fill(fixture)
        let reply = try await fixture.send(.get, "\(user):export")
        #expect(reply.status == 200)
        let export = try reply.json
        #expect(export["app"] == "coins" && export["user"] == "alice" && export["complete"] == true)
        #expect(export["withheld"] == 0 && export["takenAt"] == "2023-11-14T22:13:20.000Z")
        for part in parts {
            #expect(export["counts"]?[part] == .number(JSONNumber(export[part]?.array?.count ?? -1)), "\(part)")
        }
        #expect(export["links"]?[0]?["value"] == "1" && export["usage"]?[0]?["consumptionPercentage"] == 25000)
        let consent = export["consent"]?[0]
        #expect(consent?["source"] == "ios-app 5.2" && consent?["locale"] == "de-CH")
        #expect(consent?["wordingVersion"] == "3.1" && consent?["guardian"] == true)
        #expect(export["cases"]?[0]?["owner"] == "alice" && export["cases"]?[0]?["secondsLeft"] == .null)
        #expect(export["deliveries"]?[0]?["report"]?.object != nil && export["deliveries"]?[0]?["user"] == "alice")
        #expect(export["notifications"]?[0]?["signedPayload"] == "n.n1.n")
        #expect(export["events"]?.array?.isEmpty == false && export["events"]?[0]?["data"]?["user"] == "alice")
        #expect(export["auditPseudonyms"]?.array?.count == 1)
    }

    @Test func `after an erasure nothing is in it but that a withdrawal outlives it`() async throws {
        let fixture = try await fixture()
        try await fill(fixture)
        _ = try await fixture.send(.put, "\(user)/consent", body: #"{"consented":false,"source":"app"}"#)
        #expect(try await fixture.send(.get, "\(user):export").json["erasedWithdrawalKept"] == false)
        #expect(try await fixture.send(.delete, user).status == 200)
        let left = try await fixture.send(.get, "\(user):export").json
        for part in parts { #expect(left[part]?.array?.isEmpty == true, "\(part)") }
        for list in ["auditPseudonyms", "appAccountTokens", "idempotencyKeys", "receiptPurchases"] {
            #expect(left[list]?.array?.isEmpty == true, "\(list)")
        }
        #expect(left["erasedWithdrawalKept"] == true && left["complete"] == true)
    }

    @Test func `a receipt comes with what was sent for its user`() async throws {
        let fixture = try await fixture()
        var receipt = try Receipt.draft("r1", user: "alice", isDue: false)
        receipt.countryCode = "DE"
        receipt.ipAddress = "192.0.2.7"
        receipt.metadata = Array(#"{"screen":"shop"}"#.utf8)
        receipt.raw = Array("receipt".utf8)
        _ = try await fixture.stack.store.keep(receipt)
        let found = try await fixture.send(.get, "\(user):export").json["receipts"]?[0]
        #expect(found?["id"] == "r1" && found?["country_code"] == "DE" && found?["ip_address"] == "192.0.2.7")
        #expect(found?["metadata"]?["screen"] == "shop" && found?["receipt"] == "cmVjZWlwdA==")
    }

    @Test func `what fails on the way ends the answer with the problem`() async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps, exports: HalfReadable())
        let fixture = RequestHandlerFixture(stack, scopes: [.usersExport])
        let export = try await fixture.send(.get, "\(user):export").json
        #expect(export["links"]?.array?.count == 1 && export["complete"] == false)
        #expect(export["problem"]?["reason"] == "STORE_UNAVAILABLE")
        #expect(export["consent"] == nil && export["usage"] == nil, "nothing looks as if it had been read")
    }

    /// A link can be read, and then nothing any more.
    private struct HalfReadable: UserExportStore {
        func inventory(app: String, user: UserID) async throws(ServiceError) -> UserInventory {
            var inventory = UserInventory()
            inventory.keys = [.links: [.position(1)], .consent: [.position(1)], .usage: [.position(1)]]
            return inventory
        }

        func records(
            app: String, user: UserID, _ part: UserInventory.Part, _ keys: ArraySlice<UserInventory.Key>
        ) async throws(ServiceError) -> UserExport.Page {
            guard part == .links else { throw ServiceError(.storeUnavailable, "The store cannot be used now.") }
            var page = UserExport.Page()
            page.records = [.link(.known(by: user))]
            return page
        }
    }
}

extension Link {
    fileprivate static func known(by user: UserID) -> Link {
        Link(
            app: "coins", user: user, target: LinkTarget(.transactionId, "1"), environment: nil, source: .declared,
            validFrom: nil, validUntil: nil, createdAt: Date(timeIntervalSince1970: 100), createdBy: "test")
    }
}
