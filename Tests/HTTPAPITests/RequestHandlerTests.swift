import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What every route does alike.
struct RequestHandlerTests {
    private let requestID = HTTPField.Name("X-Request-ID") ?? .via

    @Test func `without a right token every v1 route is a 401 problem, known or not`() async throws {
        let fixture = try await RequestHandlerFixture()
        for token in [nil, "wrong", "", "prs_secre", "prs_secrett"] {
            for target in ["/v1/apps", "/v1/apps/coins/users/alice/refunds", "/v1/nothing"] {
                let reply = try await fixture.send(.get, target, token: token)
                #expect(reply.status == 401)
                #expect(reply.headers[.wwwAuthenticate] == "Bearer")
                #expect(try reply.json["type"]?.string == "urn:purser:error:unauthenticated")
            }
        }
    }

    @Test func `a source that keeps failing is told to wait, a right token is let in all the same`() async throws {
        let fixture = try await RequestHandlerFixture()
        var statuses: [Int] = []
        for _ in 0..<31 { statuses.append(try await fixture.send(.get, "/v1/apps", token: "wrong").status) }
        #expect(statuses.prefix(30).allSatisfy { $0 == 401 })
        let refused = try await fixture.send(.get, "/v1/apps", token: "wrong")
        #expect(refused.status == 429)
        #expect(refused.headers[.retryAfter].flatMap { Int($0) } ?? 0 > 0)
        #expect(try await fixture.send(.get, "/v1/apps").status == 200)
    }

    @Test func `a missing scope is a 403 that names it`() async throws {
        let fixture = try await RequestHandlerFixture(scopes: [.refundsRead])
        let reply = try await fixture.send(.get, "/v1/apps/coins/transactions/1")
        #expect(reply.status == 403)
        #expect(try reply.json["detail"]?.string?.contains("transactions:read") == true)
    }

    @Test func `HEAD is answered as GET is, without a body`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        let link = "/v1/apps/coins/users/alice/links/transactionId/1"
        #expect(try await fixture.send(.put, link).status == 201)
        for target in [
            "/v1/apps", "/v1/apps/coins/transactions/1", "/v1/apps/coins/transactions/1/history",
            "/v1/apps/coins/transactions/404", "/v1/apps/coins/users/alice/links", "/v1/nothing",
        ] {
            let get = try await fixture.send(.get, target)
            let head = try await fixture.send(.head, target)
            #expect(head.body.isEmpty && !get.body.isEmpty, "\(target)")
            #expect(head.headers[.contentLength] == "\(get.body.count)", "also of what GET sends piece by piece")
            var headers = get.headers
            headers[.contentLength] = "\(get.body.count)"
            #expect(head.status == get.status && head.headers == headers, "\(target)")
        }
        let webhook = try await fixture.send(.head, "/webhooks/apple/coins", token: nil, to: \.webhook)
        #expect(webhook.status == 405 && webhook.headers[.allow] == "POST")
        let unauthenticated = try await fixture.send(.head, "/v1/apps", token: nil)
        #expect(unauthenticated.status == 401 && unauthenticated.body.isEmpty)
    }

    @Test func `a body where a route takes none is refused, not ignored`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        let link = "/v1/apps/coins/users/alice/links/transactionId/1"
        let text: HTTPFields = [.contentType: "text/plain"]
        for (method, target) in [
            (HTTPRequest.Method.put, link), (.delete, link), (.post, "/v1/apps/coins/deliveries/1:cancel"),
            (.post, "/v1/apps/coins/transactions/1:finish"),
            (.post, "/v1/apps/coins/testNotifications?environment=Production"),
        ] {
            for (body, headers) in [(#"{"environment":"Sandbox"}"#, [:]), ("x", text), ("{}", [:])] {
                let reply = try await fixture.send(method, target, body: body, headers: headers)
                #expect(reply.status == 400, "\(method) \(target) \(body)")
                #expect(try reply.json["violations"]?.array?.map { $0["field"] } == ["body"])
            }
        }
        #expect(fixture.gateway.questions.isEmpty)
        let colour = try await fixture.send(.put, "\(link)?colour=red", body: "{}")
        #expect(try colour.json["violations"]?.array?.count == 2, "with everything else that is wrong")
        #expect(try await fixture.send(.put, link, body: "").status == 201)
        #expect(try await fixture.send(.get, "/v1/apps/coins/users/alice/links", body: "{}").status == 200)
    }

    @Test func `an unknown path is a 404 and a wrong method a 405 with Allow`() async throws {
        let fixture = try await RequestHandlerFixture()
        #expect(try await fixture.send(.get, "/v1/nothing").status == 404)
        let reply = try await fixture.send(.delete, "/v1/apps/coins/users/alice/refunds")
        #expect(reply.status == 405)
        #expect(reply.headers[.allow] == "GET, HEAD")
        #expect(try reply.json["code"]?.string == "UNIMPLEMENTED")
    }

    @Test func `a sane request id is kept and any other replaced`() async throws {
        let fixture = try await RequestHandlerFixture()
        let kept = try await fixture.send(.get, "/v1/apps", headers: [requestID: "abc-1._"])
        #expect(kept.headers[requestID] == "abc-1._")
        for bad in ["has space", "", String(repeating: "x", count: 129), "<script>"] {
            let reply = try await fixture.send(.get, "/v1/nothing", headers: [requestID: bad])
            #expect(reply.headers[requestID] == "made-here")
            #expect(try reply.json["requestId"]?.string == "made-here")
        }
    }

    @Test func `the apps are those that the caller has a scope for`() async throws {
        let reply = try await RequestHandlerFixture(scopes: [.refundsRead]).send(.get, "/v1/apps")
        let apps = try #require(try reply.json["apps"]?.array)
        #expect(apps.map { $0["app"]?.string } == ["coins"])
        #expect(apps.first?["scopes"]?.array?.map(\.string) == ["refunds:read"])
    }

    @Test func `answers are dated and not to be stored`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps")
        #expect(reply.headers[.date] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(reply.headers[.cacheControl] == "no-store")
    }

    @Test func `unknown and repeated query parameters are refused`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        for query in ["colour=red", "include=signed&include=signed", "include=all", "environment=Xcode", "%FF=1"] {
            let reply = try await fixture.send(.get, "/v1/apps/coins/transactions/1?\(query)")
            #expect(reply.status == 400, "\(query)")
        }
    }

    @Test func `a user id may hold any character when percent-encoded`() async throws {
        let fixture = try await RequestHandlerFixture()
        let target = "/v1/apps/coins/users/a%2Fb%20%C3%A9/links/transactionId/1"
        #expect(try await fixture.send(.put, target).status == 201)
        let links = try await fixture.stack.store.links(app: "coins", user: try UserID("a/b é"))
        #expect(links.count == 1)
        #expect(try await fixture.send(.get, "/v1/apps/coins/users/%FF/links").status == 400)
        let long = String(repeating: "x", count: 129)
        #expect(try await fixture.send(.get, "/v1/apps/coins/users/\(long)/links").status == 400)
    }
}
