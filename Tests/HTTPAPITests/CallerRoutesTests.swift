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

/// The callers and their keys on the admin listener.
struct CallerRoutesTests {
    private let handler: RequestHandler
    /// Its store is gone when nobody holds it.
    private let stack: ServiceStack

    init() async throws {
        let apps = AppCatalog([App(slug: "coins", bundleID: "com.example.coins")])
        let billing = Caller(name: "billing", scopes: ["coins": [.refundsRead, .consumptionWrite]])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let now: WallClock = { Date(timeIntervalSince1970: 1_700_000_000) }
        stack = try await ServiceStack(apps: apps, callers: [ConfiguredCaller(billing)])
        handler = RequestHandler(
            RequestHandler.Options(name: "admin", maximumBodyBytes: 4096, deadline: Wait.limit, isForOperators: true),
            routes: Routes.admin(stack.services, health: NoHealth(), reloader: NoReloader()),
            authenticator: nil,
            metrics: NOOPMetricsHandler.instance, now: now, makeRequestID: { "made-here" }, logger: logger)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, body: String? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target,
            headerFields: body == nil ? [:] : [.contentType: "application/json"])
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let response = await handler.respond(
            to: request, from: EmbeddedChannel(), provenBy: PeerIdentity(unixPeer: .init(uid: 1000, gid: 1000)))
        let collector = BodyCollector()
        try await response.body.write(collector)
        return RequestHandlerFixture.Reply(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }

    @Test func `a key is issued, listed and revoked, and its public half is not shown`() async throws {
        let body = #"{"app":"coins","publicKey":"PEM","scopes":["refunds:read","transactions:read"]}"#
        let issued = try await send(.post, "/v1/callers/shop/keys", body: body)
        #expect(issued.status == 201)
        let key = #""keyId":"ABCDEFGHIJ","app":"coins","state":"active","scopes":["refunds:read","transactions:read"]"#
        let times = #""createdAt":"2023-11-14T22:13:20.000Z","revokedAt":null,"lastUsedAt":null"#
        let issuer = #""issuerId":"11111111-2222-3333-4444-555555555555""#
        #expect(String(decoding: issued.body, as: UTF8.self) == "{\(issuer),\(key),\(times)}")
        let listed = try await send(.get, "/v1/callers")
        let billing =
            #"{"name":"billing","source":"configuration","shadowed":false,"createdAt":null,"lastUsedAt":null,"#
            + #""scopes":{"coins":["consumption:write","refunds:read"]},"tokens":[],"bindings":[],"keys":[]}"#
        let shop =
            #"{"name":"shop","source":"store","shadowed":false,"createdAt":"2023-11-14T22:13:20.000Z","lastUsedAt":null,"#
            + #""scopes":{"coins":["refunds:read","transactions:read"]},"tokens":[],"bindings":[],"keys":[{\#(key),\#(times)}]}"#
        #expect(
            String(decoding: listed.body, as: UTF8.self) == "{\(issuer),\"callers\":[\(billing),\(shop)]}")
        for _ in 0..<2 {
            let revoked = try await send(.delete, "/v1/callers/shop/keys/ABCDEFGHIJ")
            #expect(revoked.status == 200)
            #expect(try revoked.json["state"]?.string == "revoked")
            #expect(try revoked.json["revokedAt"]?.string == "2023-11-14T22:13:20.000Z")
        }
    }

    @Test func `a key of a configured caller has no scopes of its own`() async throws {
        let reply = try await send(.post, "/v1/callers/billing/keys", body: #"{"app":"coins","publicKey":"PEM"}"#)
        #expect(reply.status == 201)
        #expect(try reply.json["scopes"] == .null)
    }

    @Test(arguments: [
        ("{}", ["app", "publicKey", "scopes"]), (#"{"app":1,"publicKey":[]}"#, ["app", "publicKey", "scopes"]),
        (#"{"app":"coins","publicKey":"PEM","colour":1}"#, ["scopes", "colour"]),
        (#"{"app":"coins","publicKey":"PEM","scopes":"refunds:read"}"#, ["scopes"]),
        (#"{"app":"coins","publicKey":"PEM","scopes":["refunds:read",1]}"#, ["scopes"]),
        (#"{"app":"coins","publicKey":"PEM","scopes":["admin"]}"#, ["scopes"]),
        (#"{"app":"nothing","publicKey":"no key","scopes":[]}"#, ["app", "publicKey", "scopes"]),
    ])
    func `every broken rule is a violation of its field`(body: String, fields: [String]) async throws {
        let reply = try await send(.post, "/v1/callers/shop/keys", body: body)
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } == fields)
    }

    @Test func `what the configuration forbids is told with the rest`() async throws {
        for (caller, body, fields) in [
            (
                "Shop", #"{"app":"nothing","publicKey":"no key","scopes":["admin"],"colour":1}"#,
                ["name", "app", "publicKey", "scopes", "colour"]
            ),
            ("shop", #"{"publicKey":"no key"}"#, ["app", "publicKey", "scopes"]),
            ("billing", #"{"app":1,"scopes":["refunds:read"]}"#, ["app", "publicKey", "scopes"]),
        ] {
            let reply = try await send(.post, "/v1/callers/\(caller)/keys", body: body)
            #expect(reply.status == 400)
            let found = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
            #expect(Set(found ?? []) == Set(fields) && found?.count == fields.count, "\(caller)")
        }
    }

    @Test func `a key that the caller does not have is a 404`() async throws {
        for target in ["/v1/callers/shop/keys/ABCDEFGHIJ", "/v1/callers/%20/keys/ABCDEFGHIJ", "/v1/callers/a/keys/x"] {
            let reply = try await send(.delete, target)
            #expect(reply.status == 404)
            #expect(try reply.json["reason"]?.string == "CALLER_CREDENTIAL_NOT_FOUND")
        }
    }
}
