import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// A user's overview and subscriptions.
struct UserRoutesTests {
    private let user = "/v1/apps/coins/users/alice"

    private func fixture() async throws -> RequestHandlerFixture {
        let fixture = try await RequestHandlerFixture(accounts: [
            [
                .sample(id: "1", account: "A", type: .autoRenewableSubscription),
                .sample(id: "2", account: "A", revoked: 10),
            ],
            [.sample(id: "3", account: "B", type: .autoRenewableSubscription, environment: .sandbox)],
        ])
        for (account, environment) in [("A", "Production"), ("B", "Sandbox")] {
            let link = "\(user)/links/appTransactionId/\(account)?environment=\(environment)"
            #expect(try await fixture.send(.put, link).status == 201)
        }
        return fixture
    }

    @Test func `the overview tells links, accounts, active subscriptions and the number of refunds`() async throws {
        let reply = try await fixture().send(.get, user)
        #expect(reply.status == 200)
        let overview = try reply.json
        #expect(overview["app"] == "coins" && overview["user"] == "alice")
        #expect(overview["links"]?.array?.map { $0["value"]?.string } == ["A", "B"])
        #expect(overview["accounts"]?.array?.map { $0["value"]?.string } == ["A", "B"])
        let active = try #require(overview["activeSubscriptions"]?.array)
        #expect(Set(active.compactMap { $0["originalTransactionId"]?.string }) == ["1", "3"])
        #expect(overview["refundCount"] == 1 && overview["othersOmitted"] == 0)
        #expect(overview["complete"] == true && overview["gaps"] == nil)
        #expect(overview["withheld"]?.array?.isEmpty == true)
        #expect(overview["readAt"] == "2023-11-14T22:13:20.000Z")
    }

    @Test(arguments: UserOverview.Part.allCases)
    func `each part needs the scope of its own route, and is named where it is withheld`(
        part: UserOverview.Part
    ) async throws {
        let fixture = try await fixture()
        func members(of part: UserOverview.Part, _ overview: JSONValue) -> Bool { overview[part.rawValue] != nil }
        let without = try await RequestHandlerFixture(
            fixture.stack, scopes: Set(Scope.allCases).subtracting([part.scope, part.scope.impliedBy ?? part.scope])
        ).send(.get, user).json
        #expect(without["withheld"]?.array?.compactMap(\.string) == [part.rawValue])
        #expect(UserOverview.Part.allCases.filter { !members(of: $0, without) } == [part])
        let only = try await RequestHandlerFixture(fixture.stack, scopes: [part.scope]).send(.get, user)
        #expect(only.status == 200)
        let json = try only.json
        #expect(UserOverview.Part.allCases.filter { members(of: $0, json) } == [part])
        #expect(json["withheld"]?.array?.count == UserOverview.Part.allCases.count - 1)
        let isOfApple = part == .activeSubscriptions || part == .refundCount
        #expect((json["accounts"] != nil) == isOfApple && (json["othersOmitted"] != nil) == isOfApple)
        #expect(json["complete"] == true)
    }

    private func rescission(_ uuid: String, account: String) -> StoredNotification {
        StoredNotification(
            app: "coins",
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: "RESCIND_CONSENT", subtype: nil,
                signedDate: Int64(CaseModel.time(-1).timeIntervalSince1970 * 1000), environment: .production,
                payload: Array("{}".utf8), signed: "n.\(uuid).n", transaction: nil, renewalInfo: nil,
                appTransaction: VerifiedData(payload: Array("{}".utf8), signed: "a.a.a"), appTransactionID: account),
            source: .webhook, receivedAt: CaseModel.time(0))
    }

    @Test func `the overview tells what guardians took back for the user's accounts, until one gives it again`()
        async throws
    {
        let fixture = try await fixture()
        func rescinded(_ user: String) async throws -> Int {
            let overview = try await fixture.send(.get, "/v1/apps/coins/users/\(user)").json
            let list = overview["guardianRescissions"]?.array ?? []
            #expect(list.allSatisfy { $0["environment"] == "Production" && $0["at"] == "2023-11-14T21:13:20.000Z" })
            return list.count
        }
        #expect(try await rescinded("alice") == 0)
        // Account B is of the sandbox; bob is known to be of account A by a transaction that was read.
        _ = try await fixture.send(.put, "/v1/apps/coins/users/bob/links/transactionId/2")
        for account in ["A", "B", "C"] { try await fixture.stack.receive(rescission(account, account: account)) }
        #expect(try await rescinded("alice") == 1)
        #expect(try await rescinded("bob") == 1)
        #expect(try await rescinded("carol") == 0)
        for (guardian, left) in [(false, 1), (true, 0)] {
            let body = #"{"consented":true,"source":"test","guardian":\#(guardian)}"#
            #expect(try await fixture.send(.put, "\(user)/consent", body: body).status == 200)
            #expect(try await rescinded("alice") == left)
        }
        #expect(try await rescinded("bob") == 1)
    }

    @Test func `who may see no part may not see the overview`() async throws {
        let fixture = try await fixture()
        let scopes = Set(Scope.allCases).subtracting(UserOverview.scopes).subtracting([.linksWrite])
        let reply = try await RequestHandlerFixture(fixture.stack, scopes: scopes).send(.get, user)
        #expect(reply.status == 403)
        #expect(try reply.json["detail"]?.string?.contains("`links:read`") == true)
    }

    @Test func `a link that leads nowhere is a gap of every list, and none is a 404`() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.send(.put, "\(user)/links/transactionId/999").status == 201)
        for (path, count) in [("/refunds", 1), ("/transactions", 3), ("/subscriptions", 2), ("", 0)] {
            let reply = try await fixture.send(.get, user + path)
            #expect(reply.status == 200, "\(path)")
            let list = try reply.json
            #expect(list["complete"] == false)
            let gaps = try #require(list["gaps"]?.array)
            #expect(gaps.count == 1 && gaps.first?["value"] == "999" && gaps.first?["part"] == "account")
            #expect(gaps.first?["problem"]?["apple"]?["errorName"] == "TransactionIdNotFoundError")
            let name = path == "/subscriptions" ? "subscriptions" : "transactions"
            if !path.isEmpty { #expect(list[name]?.array?.count == count, "\(path)") }
        }
    }

    @Test func `a part that fails fails the overview, or is a gap beside the rest`() async throws {
        let fixture = try await fixture()
        fixture.gateway.fail("B", with: ServiceError(.appleUnavailable, "down"))
        #expect(try await fixture.send(.get, user).status == 503)
        let partial = try await fixture.send(.get, "\(user)?partial=true")
        #expect(partial.status == 200)
        let overview = try partial.json
        #expect(overview["complete"] == false)
        #expect(overview["activeSubscriptions"]?.array?.count == 1)
        let gaps = try #require(overview["gaps"]?.array)
        #expect(Set(gaps.compactMap { $0["part"]?.string }) == ["subscriptions", "refunds"])
        for gap in gaps {
            #expect(gap["value"] == "B" && gap["problem"]?["reason"] == "APPLE_UNAVAILABLE")
            #expect(gap["problem"]?["status"] == 503 && gap["problem"]?["requestId"] == "made-here")
        }
    }

    @Test func `a user of whom nothing is known has an overview that says so`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(.get, user)
        #expect(reply.status == 200)
        #expect(try reply.json["complete"] == false)
        #expect(try reply.json["incompleteReason"]?.string?.contains("alice") == true)
        #expect(try await fixture.send(.get, "\(user)/subscriptions").status == 409)
    }

    @Test(.endsHangs) func `a client that goes away takes all parts with it`() async throws {
        let fixture = try await fixture()
        fixture.gateway.gate.close()
        let target = user
        let request = Task { try await fixture.send(.get, target) }
        await fixture.gateway.gate.hasArrivals(4)
        request.cancel()
        #expect(try await request.value.status == 504)
    }

    @Test func `one deadline holds for every part, and Prefer can shorten it`() async throws {
        let fixture = try await fixture()
        let before = ContinuousClock.now
        let prefer = try #require(HTTPField.Name("Prefer"))
        let reply = try await fixture.send(.get, user, headers: [prefer: "wait=\(Wait.seconds / 2)"])
        let after = ContinuousClock.now
        #expect(reply.headers[try #require(HTTPField.Name("Preference-Applied"))] == "wait=\(Wait.seconds / 2)")
        let deadlines = Set(fixture.gateway.calls.map(\.deadline))
        #expect(deadlines.count == 1)
        let deadline = try #require(deadlines.first)
        #expect((before + Wait.limit / 2...after + Wait.limit / 2).contains(deadline))
    }

    @Test func `subscriptions come with both payloads, and the signed forms on demand`() async throws {
        let fixture = try await fixture()
        let list = try await fixture.send(.get, "\(user)/subscriptions?environment=Sandbox").json
        let entry = try #require(list["subscriptions"]?.array?.first)
        #expect(list["subscriptions"]?.array?.count == 1 && list["complete"] == true)
        #expect(entry["status"] == 1 && entry["subscriptionGroupIdentifier"] == "group")
        #expect(entry["transaction"]?["transactionId"] == "3" && entry["renewalInfo"]?["autoRenewStatus"] == 1)
        #expect(entry["environment"] == "Sandbox" && entry["verified"] == true)
        #expect(entry["signedTransactionInfo"] == nil)
        let signed = try await fixture.send(.get, "\(user)/subscriptions?include=signed").json
        let first = try #require(signed["subscriptions"]?.array?.first)
        #expect(first["signedTransactionInfo"] == "a.b.c" && first["signedRenewalInfo"] == "r.r.r")
    }

    @Test func `statuses are a filter that may be repeated, and everything wrong is told at once`() async throws {
        let fixture = try await fixture()
        fixture.gateway.setStatus(.expired, of: "1")
        let list = try await fixture.send(.get, "\(user)/subscriptions?status=2&status=5&status=2").json
        #expect(list["subscriptions"]?.array?.map { $0["originalTransactionId"]?.string } == ["1"])
        #expect(fixture.gateway.questions.contains(.subscriptions("A", [.expired, .revoked])))
        let long = String(repeating: "x", count: 129)
        let reply = try await fixture.send(
            .get,
            "/v1/apps/coins/users/\(long)/subscriptions?status=9&include=x&partial=maybe&environment=Moon&colour=1")
        #expect(reply.status == 400)
        let fields = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(Set(fields ?? []) == ["user", "status", "include", "partial", "environment", "colour"])
    }

    @Test func `the lists of a user tell every violation at once too`() async throws {
        let reply = try await RequestHandlerFixture().send(
            .get, "\(user)/transactions?startDate=x&include=x&sort=ASCENDING&environment=Moon&pageSize=0")
        let fields = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(Set(fields ?? []) == ["startDate", "include", "sort", "environment", "pageSize"])
    }
}
