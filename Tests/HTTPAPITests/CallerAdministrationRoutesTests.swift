import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import HummingbirdCore
import JSON
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

/// Callers added, changed and removed on the admin listener, and what the API listener makes of it.
struct CallerAdministrationRoutesTests {
    private let stack: ServiceStack
    private let admin: RequestHandler
    private let api: RequestHandler

    init() async throws {
        let apps = AppCatalog([
            App(slug: "coins", bundleID: "com.example.coins"), App(slug: "gems", bundleID: "com.example.gems"),
        ])
        let billing = ConfiguredCaller(
            Caller(name: "billing", scopes: ["coins": [.refundsRead]]), bindings: [.uid(1000)])
        let stack = try await ServiceStack(apps: apps, callers: [billing])
        self.stack = stack
        func handler(_ name: String, _ routes: [Route], _ authenticator: Authenticator?) -> RequestHandler {
            RequestHandler(
                RequestHandler.Options(
                    name: name, maximumBodyBytes: 4096, deadline: Wait.limit, isForOperators: name == "admin"),
                routes: routes, authenticator: authenticator, metrics: NOOPMetricsHandler.instance,
                now: { ServiceStack.now }, makeRequestID: { "made-here" },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        admin = handler("admin", Routes.admin(stack.services, health: NoHealth(), reloader: NoReloader()), nil)
        api = handler("api", Routes.api(stack.services), Authenticator(stack.services.access))
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, body: String? = nil, token: String? = nil,
        to handler: RequestHandler? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        var fields: HTTPFields = body == nil ? [:] : [.contentType: "application/json"]
        if let token { fields[.authorization] = "Bearer \(token)" }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let operatorPeer = PeerIdentity(unixPeer: .init(uid: 0, gid: 0))
        let response = await (handler ?? admin).respond(
            to: request, from: EmbeddedChannel(), provenBy: handler == nil ? operatorPeer : PeerIdentity())
        let collector = BodyCollector()
        try await response.body.write(collector)
        return RequestHandlerFixture.Reply(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }

    @Test func `the list comes in pages, in which nobody is missing or comes twice`() async throws {
        for name in ["shop", "arcade", "kiosk"] {
            _ = try await add(#"{"name":"\#(name)","scopes":{"coins":["refunds:read"]}}"#)
        }
        var names: [String] = []
        var target = "/v1/callers?pageSize=1"
        while true {
            let page = try await send(.get, target)
            let json = try page.json
            #expect(page.status == 200 && json["issuerId"]?.string != nil)
            let found = try #require(json["callers"]?.array).compactMap { $0["name"]?.string }
            #expect(found.count == 1)
            names += found
            guard let token = json["nextPageToken"]?.string else { break }
            // Between two pages one comes that is behind, and one goes that was shown.
            if names.count == 2 {
                _ = try await add(#"{"name":"market","scopes":{"coins":["refunds:read"]}}"#)
                #expect(try await send(.delete, "/v1/callers/arcade").status == 200)
            }
            let encoded = try #require(token.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            target = "/v1/callers?pageSize=1&pageToken=\(encoded)"
        }
        #expect(names == ["billing", "arcade", "kiosk", "market", "shop"])
        #expect(try await send(.get, "/v1/callers?pageToken=x").json["reason"]?.string == "PAGE_TOKEN_INVALID")
        #expect(try await send(.get, "/v1/callers?pageSize=201").status == 400)
    }

    private func add(_ body: String = #"{"name":"shop","scopes":{"coins":["refunds:read"]}}"#) async throws -> (
        id: String, token: String
    ) {
        let reply = try await send(.post, "/v1/callers", body: body)
        try #require(reply.status == 201, "\(String(decoding: reply.body, as: UTF8.self))")
        let token = try #require(try reply.json["token"])
        return (try #require(token["tokenId"]?.string), try #require(token["token"]?.string))
    }

    private func apps(_ token: String) async throws -> Int {
        try await send(.get, "/v1/apps", token: token, to: api).status
    }

    @Test func `a caller is added, shown, allowed more and less, given a new token, and removed`() async throws {
        let (id, token) = try await add()
        #expect(try await apps(token) == 200)
        #expect(token.hasPrefix("prs_\(id)"))
        let shown = try await send(.get, "/v1/callers/shop")
        let text = String(decoding: shown.body, as: UTF8.self)
        #expect(shown.status == 200 && text.contains(id) && !text.contains(token))
        #expect(!String(decoding: try await send(.get, "/v1/callers").body, as: UTF8.self).contains(token))
        #expect(try shown.json["tokens"]?.array?.first?["lastUsedAt"]?.string == "2023-11-14T22:13:20.000Z")
        let refunds = "/v1/apps/gems/users/alice/refunds"
        #expect(try await send(.get, refunds, token: token, to: api).status == 403)
        let grant = #"{"app":"gems","scopes":["refunds:read"]}"#
        #expect(try await send(.post, "/v1/callers/shop:grant", body: grant).status == 200)
        #expect(try await send(.get, refunds, token: token, to: api).status != 403)
        #expect(try await send(.post, "/v1/callers/shop:ungrant", body: grant).status == 200)
        let missing = try await send(.get, refunds, token: token, to: api)
        #expect(try missing.status == 403 && missing.json["detail"]?.string?.contains("refunds:read") == true)
        let rotated = try await send(.post, "/v1/callers/shop/tokens", body: #"{"graceSeconds":60}"#)
        let second = try #require(try rotated.json["token"]?["token"]?.string)
        #expect(rotated.status == 201)
        for token in [token, second] { #expect(try await apps(token) == 200) }
        #expect(try await send(.post, "/v1/callers/shop/tokens").status == 409, "two are usable")
        for _ in 0..<2 { #expect(try await send(.delete, "/v1/callers/shop/tokens/\(id)").status == 200) }
        #expect(try await apps(token) == 401)
        #expect(try await apps(second) == 200)
        #expect(try await send(.delete, "/v1/callers/shop").status == 200)
        #expect(try await apps(second) == 401)
        #expect(try await send(.get, "/v1/callers/shop").json["reason"]?.string == "CALLER_NOT_FOUND")
    }

    @Test func `bindings are put and deleted by kind and value, percent-encoded`() async throws {
        let body = #"{"name":"shop","certificates":["spiffe://example.org/shop"],"uids":[7],"gids":[9]}"#
        let added = try await send(.post, "/v1/callers", body: body)
        #expect(try added.status == 201 && added.json["token"] == .null)
        let path = "/v1/callers/shop/bindings/"
        let put = try await send(.put, path + "certificate/spiffe%3A%2F%2Fexample.org%2Fother")
        #expect(put.status == 200)
        let bindings = try put.json["bindings"]?.array?.compactMap { $0["value"]?.string }
        #expect(bindings == ["spiffe://example.org/other", "spiffe://example.org/shop", "9", "7"])
        #expect(try await send(.delete, path + "uid/7").status == 200)
        #expect(try await send(.delete, path + "uid/7").status == 404)
        #expect(try await send(.put, path + "uid/1000").status == 409)
        for wrong in ["uid/-1", "uid/007", "uid/4294967295", "gid/a", "certificate/shop", "name/x"] {
            #expect(try await send(.put, path + wrong).status == 400, "\(wrong)")
        }
    }

    @Test(arguments: [
        ("{}", ["name"]), (#"{"name":"Shop","scopes":{"nothing":["refunds:read"]}}"#, ["name", "scopes.nothing"]),
        (#"{"name":"shop","scopes":{"coins":["admin"],"gems":[]}}"#, ["scopes.coins", "scopes.gems"]),
        (#"{"name":"shop","scopes":[],"uids":["a"],"colour":1}"#, ["scopes", "uids[0]", "colour"]),
        (#"{"name":"shop","expiresInSeconds":1,"token":"yes"}"#, ["expiresInSeconds", "token"]),
    ])
    func `every broken rule of an addition is a violation of its field`(body: String, fields: [String]) async throws {
        let reply = try await send(.post, "/v1/callers", body: body)
        #expect(reply.status == 400)
        let found = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(Set(found ?? []) == Set(fields), "\(String(decoding: reply.body, as: UTF8.self))")
    }

    @Test func `the configuration's callers are read-only, and a taken name is a conflict`() async throws {
        for (method, target, body) in [
            (.post, "/v1/callers", #"{"name":"billing"}"#), (.delete, "/v1/callers/billing", nil),
            (.post, "/v1/callers/billing/tokens", nil),
            (.post, "/v1/callers/billing:grant", #"{"app":"coins","scopes":["links:read"]}"#),
        ] as [(HTTPRequest.Method, String, String?)] {
            let reply = try await send(method, target, body: body)
            #expect(try reply.status == 409 && reply.json["reason"]?.string == "CALLER_CONFLICT", "\(target)")
        }
    }

    @Test func `a read that waits is not answered to a caller that is revoked meanwhile`() async throws {
        let (id, token) = try await add(#"{"name":"shop","scopes":{"coins":["events:read"]}}"#)
        let waiting = Task {
            try await send(.get, "/v1/apps/coins/events?wait=60", token: token, to: api)
        }
        try await Wait.until("the request to be under way") {
            stack.services.access.administration.callers().first { $0.name == "shop" }?.lastUsedAt != nil
        }
        #expect(try await send(.delete, "/v1/callers/shop/tokens/\(id)").status == 200)
        try await stack.receive(.sample("n1"))
        #expect(try await waiting.value.status == 401)
    }

    @Test func `failures in the name of one token are slowed down, and the right one is let in`() async throws {
        let (_, token) = try await add()
        let wrong = OpaqueToken.generate { [UInt8](repeating: 200, count: $0) }.text
        for _ in 0..<FailedAttempts.allowedPerWindow { #expect(try await apps(wrong) == 401) }
        let slowed = try await send(.get, "/v1/apps", token: wrong, to: api)
        #expect(slowed.status == 429 && slowed.headers[.retryAfter] != nil)
        #expect(try await apps(token) == 200)
    }
}
