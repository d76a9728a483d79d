import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

struct TransactionRoutesTests {
    private let purchases = (1...5).map {
        Transaction.sample(id: "\($0)", account: "A", purchased: Double($0), revoked: $0 > 3 ? Double(100 + $0) : nil)
    }

    @Test func `a transaction is Apple's payload with its environment, and the signed form on demand`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [purchases])
        let reply = try await fixture.send(.get, "/v1/apps/coins/transactions/2")
        #expect(
            String(decoding: reply.body, as: UTF8.self)
                == #"{"transaction":{"transactionId":"2"},"environment":"Production","verified":true}"#)
        let signed = try await fixture.send(.get, "/v1/apps/coins/transactions/2?include=signed")
        #expect(try signed.json["signed"] == "a.b.c")
    }

    @Test func `an unknown transaction is Apple's 404`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/transactions/404")
        #expect(reply.status == 404)
        #expect(try reply.json["apple"]?["errorCode"] == 4_040_010)
        #expect(try reply.json["code"] == "NOT_FOUND")
    }

    @Test func `an identifier that is not safe in a path is refused here`() async throws {
        for identifier in ["a%2Fb", "a%20b", "..%2F..", String(repeating: "9", count: 65)] {
            let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/transactions/\(identifier)")
            #expect(reply.status == 400)
            #expect(try reply.json["violations"]?[0]?["appleErrorCode"] == 4_000_006)
        }
    }

    @Test func `a list streams every page in Apple's order and ends with the revision`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [purchases], pageSize: 2)
        let list = try await fixture.send(.get, "/v1/apps/coins/transactions/1/history").json
        let ids = list["transactions"]?.array?.map { $0["transaction"]?["transactionId"]?.string }
        #expect(ids == ["1", "2", "3", "4", "5"])
        #expect(list["complete"] == true && list["revision"] == "5" && list["environment"] == "Production")
        let later = try await fixture.send(.get, "/v1/apps/coins/transactions/1/history?revision=4").json
        #expect(later["transactions"]?.array?.count == 1)
        let refunds = try await fixture.send(.get, "/v1/apps/coins/transactions/1/refunds").json
        #expect(refunds["transactions"]?.array?.count == 2)
    }

    @Test func `bad filters are refused with Apple's codes, all at once`() async throws {
        let query =
            "startDate=x&productType=CARS&revoked=maybe&sort=UP&productId=&inAppOwnershipType=X&subscriptionGroupIdentifier="
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/transactions/1/history?\(query)")
        let codes = try #require(try reply.json["violations"]?.array).compactMap { $0["appleErrorCode"]?.int64 }
        #expect(Set(codes) == [4_000_015, 4_000_022, 4_000_030, 4_000_021, 4_000_023, 4_000_026, 4_000_024])
        let order = try await RequestHandlerFixture().send(
            .get, "/v1/apps/coins/transactions/1/history?startDate=5&endDate=5")
        #expect(try order.json["violations"]?[0]?["appleErrorCode"] == 4_000_013)
    }

    @Test func `a user's list is paged, newest first`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [purchases])
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/appTransactionId/A")
        let base = "/v1/apps/coins/users/alice/transactions"
        let first = try await fixture.send(.get, "\(base)?pageSize=3").json
        let token = try #require(first["nextPageToken"]?.string)
        let encoded = try #require(token.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let second = try await fixture.send(.get, "\(base)?pageToken=\(encoded)").json
        let ids = [first, second].flatMap { page in
            page["transactions"]?.array?.compactMap { $0["transaction"]?["transactionId"]?.string } ?? []
        }
        #expect(ids == ["5", "4", "3", "2", "1"])
        #expect(second["nextPageToken"] == nil && second["complete"] == true)
        #expect(try await fixture.send(.get, "\(base)?pageSize=0").status == 400)
        #expect(try await fixture.send(.get, "\(base)?pageSize=1001").status == 400)
        #expect(try await fixture.send(.get, "\(base)?sort=ASCENDING").status == 400)
    }

    @Test func `links are declared, listed, moved and ended`() async throws {
        let fixture = try await RequestHandlerFixture()
        let alice = "/v1/apps/coins/users/alice/links"
        let bob = "/v1/apps/coins/users/bob/links"
        #expect(try await fixture.send(.put, "\(alice)/transactionId/7?environment=Sandbox").status == 201)
        #expect(try await fixture.send(.put, "\(alice)/transactionId/7").status == 200)
        let conflict = try await fixture.send(.put, "\(bob)/transactionId/7")
        #expect(conflict.status == 409)
        let detail = try #require(try conflict.json["detail"]?.string)
        #expect(detail.contains("alice") && detail.contains("bob"))
        #expect(try conflict.json["owner"] == "alice" && conflict.json["user"] == "bob")
        #expect(try await fixture.send(.put, "\(bob)/transactionId/7?transfer=true").status == 201)
        let listed = try await fixture.send(.get, alice).json["links"]?.array ?? []
        #expect(listed.count == 1 && listed[0]["validUntil"] != .null)
        #expect(try await fixture.send(.delete, "\(bob)/transactionId/7").status == 200)
        #expect(try await fixture.send(.delete, "\(bob)/transactionId/7").status == 404)
        #expect(try await fixture.send(.put, "\(bob)/colour/7").status == 400)
        #expect(try await fixture.send(.put, "\(bob)/appAccountToken/7").status == 400)
    }

    @Test func `everything wrong with a link is told at once`() async throws {
        let fixture = try await RequestHandlerFixture()
        let long = String(repeating: "x", count: 129)
        for (target, rule) in [
            ("transactionId/a%20b", "format"), ("appAccountToken/7", "format"), ("transactionId/\(long)", "length"),
        ] {
            for method in [HTTPRequest.Method.put, .delete] {
                let query = method == .put ? "?environment=Moon&colour=1" : "?colour=1"
                let reply = try await fixture.send(
                    method, "/v1/apps/coins/users/\(long)/links/\(target)\(query)")
                #expect(reply.status == 400)
                let violations = try #require(try reply.json["violations"]?.array)
                let expected: Set<String?> = ["user", "value", "colour"]
                #expect(
                    Set(violations.map { $0["field"]?.string })
                        == (method == .put ? expected.union(["environment"]) : expected))
                #expect(violations.first { $0["field"] == "value" }?["rule"]?.string == rule)
            }
        }
    }

    @Test func `a user of whom nothing is known is a 409 that says so`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/users/alice/refunds")
        #expect(reply.status == 409)
        #expect(try reply.json["reason"] == "NO_TRANSACTION_KNOWN")
    }
}
