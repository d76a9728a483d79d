import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQLite
import TestSupport
import Testing

/// Who passes an Apple-compatible door, and what passes through it.
struct AppleProxyTests {
    private static let info = "/inApps/v1/transactions/1"

    @Test func `without a right token every path is Apple's 401, which has no JSON`() async throws {
        let fixture = try await AppleProxyFixture()
        for token in [nil, "", "SHOPKEYAAB", "prs_secret", "a.b.c"] {
            for target in [Self.info, "/nothing", "/"] {
                let reply = try await fixture.send(.get, target, token: token)
                #expect(reply.status == 401)
                #expect(reply.headers[.contentType] == "text/plain")
                #expect(String(decoding: reply.body, as: UTF8.self) == "Unauthenticated\n")
            }
        }
        #expect(fixture.proxy.forwarded.isEmpty)
    }

    @Test func `HEAD is none of Apple's methods, and its refusal has no body`() async throws {
        let fixture = try await AppleProxyFixture()
        for (target, token) in [(Self.info, nil), (Self.info, Optional(AppleProxyFixture.key)), ("/nothing", nil)] {
            let reply = try await fixture.send(.head, target, token: token)
            #expect(reply.status == (token == nil ? 401 : 405) && reply.body.isEmpty)
        }
    }

    @Test func `a source that keeps failing gets Apple's 429, a right token is let in all the same`() async throws {
        let fixture = try await AppleProxyFixture()
        for _ in 0..<30 { _ = try await fixture.send(.get, Self.info, token: "wrong") }
        let refused = try await fixture.send(.get, Self.info, token: "wrong")
        #expect(refused.status == 429)
        #expect(try refused.json["errorCode"]?.int64 == 4_290_000)
        #expect(try await fixture.send(.get, Self.info).status == 200)
    }

    @Test func `a revoked key is refused at its next request`() async throws {
        let fixture = try await AppleProxyFixture()
        #expect(try await fixture.send(.get, Self.info).status == 200)
        try await fixture.revokeKey()
        #expect(try await fixture.send(.get, Self.info).status == 401)
    }

    @Test func `an unknown path is a 404 without a body, a wrong method a 405 with Allow`() async throws {
        let fixture = try await AppleProxyFixture()
        let unknown = try await fixture.send(.get, "/inApps/v1/nothing")
        #expect(unknown.status == 404)
        #expect(unknown.body.isEmpty)
        let wrong = try await fixture.send(.delete, Self.info)
        #expect(wrong.status == 405)
        #expect(wrong.headers[.allow] == "GET")
    }

    @Test func `a missing scope is a 403 in Apple's form that names it`() async throws {
        let fixture = try await AppleProxyFixture(scopes: [.refundsRead])
        let reply = try await fixture.send(.get, Self.info)
        #expect(reply.status == 403)
        #expect(reply.headers[.contentType] == "application/json")
        #expect(try reply.json["errorCode"]?.int64 == 4_030_000)
        #expect(try reply.json["errorMessage"]?.string?.contains("`transactions:read`") == true)
        #expect(try await fixture.send(.get, "/inApps/v2/refund/lookup/1").status == 200)
        #expect(fixture.proxy.forwarded.count == 1)
    }

    @Test func `in an environment that the app may not use nothing is found`() async throws {
        let fixture = try await AppleProxyFixture(environments: [.sandbox])
        let reply = try await fixture.send(.get, Self.info)
        #expect(reply.status == 404)
        #expect(try reply.json["errorCode"]?.int64 == 4_040_010)
        #expect(try reply.json["errorMessage"]?.string?.contains("not configured for Production") == true)
        #expect(fixture.proxy.forwarded.isEmpty)
    }

    @Test func `a request is passed on as it came, for its caller, app and environment`() async throws {
        let fixture = try await AppleProxyFixture()
        let query = "revoked=True&productId=a%20b&productId=c+d&x"
        _ = try await fixture.send(.get, "\(Self.info)?\(query)", body: Array("ignored".utf8))
        _ = try await fixture.send(
            .put, "/inApps/v1/messaging/image/1?imageSize=FULL_SIZE", body: [0x89, 0x50, 0, 255],
            contentType: "image/png")
        _ = try await fixture.send(.post, "/inApps/v1/notifications/test")
        let forwarded = fixture.proxy.forwarded
        #expect(
            forwarded.map(\.request) == [
                AppleProxyRequest(method: "GET", path: Self.info, query: query, contentType: nil, body: nil),
                AppleProxyRequest(
                    method: "PUT", path: "/inApps/v1/messaging/image/1", query: "imageSize=FULL_SIZE",
                    contentType: "image/png", body: [0x89, 0x50, 0, 255]),
                AppleProxyRequest(
                    method: "POST", path: "/inApps/v1/notifications/test", query: nil, contentType: nil, body: []),
            ])
        for call in forwarded.map(\.call) {
            #expect(call.caller == "shop")
            #expect(call.app.slug == "coins")
            #expect(call.environment == .production)
        }
    }

    @Test func `Apple's answer passes byte for byte`() async throws {
        let fixture = try await AppleProxyFixture()
        let answers = [
            AppleProxyResponse(
                status: 200, contentType: "application/json;charset=UTF-8", retryAfter: nil,
                body: Array(#"{"a": 1 }"#.utf8)),
            AppleProxyResponse(status: 202, contentType: nil, retryAfter: nil, body: []),
            AppleProxyResponse(
                status: 429, contentType: "application/json", retryAfter: "1700000123456",
                body: Array(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#.utf8)),
            AppleProxyResponse(status: 503, contentType: "text/html", retryAfter: nil, body: [0xFF, 0, 1]),
        ]
        for answer in answers {
            fixture.proxy.answer(.success(answer))
            let reply = try await fixture.send(.get, Self.info)
            #expect(reply.status == answer.status)
            #expect(reply.headers[.contentType] == answer.contentType)
            #expect(reply.headers[.retryAfter] == answer.retryAfter)
            #expect(reply.body == answer.body)
        }
    }

    @Test func `a token that Apple took and that is not known here is no success`() async throws {
        let fixture = try await AppleProxyFixture()
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let body = Array(#"{"appAccountToken":"\#(token)"}"#.utf8)
        func set() async throws -> RequestHandlerFixture.Reply {
            try await fixture.send(
                .put, "/inApps/v1/transactions/1/appAccountToken", body: body, contentType: "application/json")
        }
        #expect(try await set().status == 200)
        await fixture.stack.store.close()
        let reply = try await set()
        #expect(fixture.proxy.forwarded.count == 2)
        // Which Apple's libraries try again.
        #expect(try reply.status == 500 && reply.json["errorCode"] == 5_000_001)
    }

    @Test func `an image may be larger than any JSON, up to the listener's limit`() async throws {
        let fixture = try await AppleProxyFixture(maximumBodyBytes: 3 << 20)
        let image = [UInt8](repeating: 7, count: 2 << 20)
        #expect(try await fixture.send(.put, "/inApps/v1/messaging/image/1", body: image).status == 200)
        #expect(fixture.proxy.forwarded.first?.request.body == image)
        let larger = try await fixture.send(.put, "/inApps/v1/messaging/image/1", body: image + image)
        let json = try await fixture.send(.post, "/inApps/v1/notifications/test", body: image)
        for reply in [larger, json] {
            #expect(reply.status == 413)
            #expect(try reply.json["errorCode"]?.int64 == 4_130_000)
        }
        #expect(fixture.proxy.forwarded.count == 1)
    }

    @Test func `answers are dated, named and not to be stored`() async throws {
        let reply = try await AppleProxyFixture().send(.get, Self.info)
        #expect(reply.headers[.date] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(reply.headers[.cacheControl] == "no-store")
        #expect(HTTPField.Name("X-Request-ID").map { reply.headers[$0] } == "made-here")
    }
}
