import Domain
import HTTPAPI
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

/// `/v1/keys` on the admin listener, over keys that are played.
struct KeyRoutesTests {
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    private static let pem = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"

    private let fixture: RequestHandlerFixture
    private let keys: FakeKeyAdministration
    private let log = RecordedLog()

    init() async throws {
        fixture = try await RequestHandlerFixture(logger: log.logger)
        keys = try #require(fixture.stack.services.keys as? FakeKeyAdministration)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, body: String? = nil, type: String? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        try await fixture.send(
            method, target, body: body, token: nil, headers: type.map { [.contentType: $0] } ?? [:], to: \.admin)
    }

    private func importKey(_ target: String, body: String = pem) async throws -> RequestHandlerFixture.Reply {
        try await send(.post, target, body: body, type: "application/x-pem-file")
    }

    @Test func `a key comes in as a file, and no answer or log line holds it`() async throws {
        let reply = try await importKey("/v1/keys/ABC123:import?issuerId=\(Self.issuer)&app=coins&app=gems")
        #expect(reply.status == 201)
        #expect(try reply.json["state"]?.string == "standby" && reply.json["keyId"]?.string == "ABC123")
        #expect(try reply.json["importedBy"]?.string == "operator:1000")
        #expect(keys.texts == [Array(Self.pem.utf8)])
        #expect(keys.calls == ["import ABC123 by operator:1000"])
        let list = try await send(.get, "/v1/keys")
        let shown = try await send(.get, "/v1/keys/ABC123")
        #expect(list.status == 200 && shown.status == 200)
        for answer in [reply, list, shown] {
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("MIGH"))
        }
        #expect(!log.lines.isEmpty)
        #expect(!log.lines.contains { "\($0)".contains("MIGH") || "\($0)".contains("PRIVATE") })
    }

    @Test func `the buffer that a key came in is wiped`() async throws {
        let buffer = ByteBuffer(string: Self.pem)
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "localhost",
            path: "/v1/keys/ABC123:import?issuerId=\(Self.issuer)&app=coins",
            headerFields: [.contentType: "application/x-pem-file"])
        let response = await fixture.admin.respond(
            to: Request(head: head, body: RequestBody(buffer: buffer)), from: EmbeddedChannel(),
            provenBy: PeerIdentity(unixPeer: .init(uid: 1000, gid: 1000)))
        #expect(response.status == .created)
        #expect(keys.texts == [Array(Self.pem.utf8)])
        #expect(buffer.readableBytesView.allSatisfy { $0 == 0 })
    }

    @Test func `every fault of an import is told at once`() async throws {
        let reply = try await importKey("/v1/keys/A-B:import?issuerId=nobody&app=others&force=1")
        #expect(reply.status == 400)
        let faults = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(faults == ["keyId", "force", "issuerId", "app"])
        let none = try await importKey("/v1/keys/ABC:import")
        #expect(none.status == 400)
        let fields = try none.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(fields == ["issuerId", "app"])
        #expect(keys.calls.isEmpty)
    }

    @Test func `a key file is bounded, and is declared as one`() async throws {
        let target = "/v1/keys/ABC:import?issuerId=\(Self.issuer)&app=coins"
        let long = try await importKey(target, body: String(repeating: "x", count: 17 << 10))
        #expect(long.status == 413)
        let json = try await send(.post, target, body: "{}", type: "application/json")
        #expect(json.status == 415)
        #expect(keys.calls.isEmpty)
    }

    @Test func `acts name the key, the apps and the operator`() async throws {
        _ = try await importKey("/v1/keys/ABC:import?issuerId=\(Self.issuer)&app=coins")
        let check = try await send(.post, "/v1/keys/ABC:check")
        #expect(try check.status == 200 && check.json["passes"]?.bool == true)
        #expect(try check.json["findings"]?.array?.count == 1)
        for body in [nil, #"{"apps": ["coins"], "unchecked": true}"#] {
            #expect(try await send(.post, "/v1/keys/ABC:activate", body: body).status == 200)
        }
        for act in ["retire", "revoke"] {
            #expect(try await send(.post, "/v1/keys/ABC:\(act)").status == 200)
        }
        #expect(try await send(.delete, "/v1/keys/ABC").json["keyId"]?.string == "ABC")
        let change = try await send(.post, "/v1/keys:rewrap")
        #expect(try change.json["rewrapped"]?.int64 == 3)
        #expect(
            keys.calls.dropFirst() == [
                "check ABC by operator:1000", "activate ABC for all by operator:1000",
                "activate ABC for coins unchecked by operator:1000", "retire ABC by operator:1000",
                "revoke ABC by operator:1000", "delete ABC by operator:1000", "rewrap by operator:1000",
            ])
    }

    @Test(arguments: [#"{"apps": "coins"}"#, #"{"apps": [1]}"#, #"{"unchecked": "yes"}"#, #"{"force": true}"#])
    func `a request to activate says what it means`(body: String) async throws {
        _ = try await importKey("/v1/keys/ABC:import?issuerId=\(Self.issuer)&app=coins")
        #expect(try await send(.post, "/v1/keys/ABC:activate", body: body).status == 400)
        #expect(keys.calls.count == 1)
    }

    @Test func `a key that is not there is 404, and the listener for services knows none of this`() async throws {
        for (method, path) in [
            (HTTPRequest.Method.get, "/v1/keys/NONE"), (.delete, "/v1/keys/NONE"), (.post, "/v1/keys/NONE:check"),
            (.post, "/v1/keys/NONE:revoke"),
        ] {
            let reply = try await send(method, path)
            #expect(reply.status == 404)
            #expect(try reply.json["type"]?.string == "urn:purser:error:key-not-found")
        }
        let foreign = try await fixture.send(.get, "/v1/keys")
        #expect(foreign.status == 404)
        #expect(try foreign.json["type"]?.string == "urn:purser:error:route-not-found")
    }
}
