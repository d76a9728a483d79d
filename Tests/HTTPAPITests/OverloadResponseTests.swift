import Domain
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTPAPI

/// What somebody hears whom nobody has time for: the same shape as everything else.
struct OverloadResponseTests {
    private let requestID = HTTPField.Name("X-Request-ID") ?? .via

    private func request(_ headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/v1/apps", headerFields: headers)
    }

    private func json(_ body: ByteBuffer) throws -> JSONValue {
        try JSONValue(parsing: Array(body.readableBytesView))
    }

    @Test func `a service hears a problem that says when to come back`() async throws {
        let fixture = try await RequestHandlerFixture()
        for (given, expected) in [("abc-1", "abc-1"), ("has space", "made-here")] {
            let (head, body) = fixture.handler.shed(request([requestID: given]))
            #expect(head.status == .serviceUnavailable)
            #expect(head.headerFields[.retryAfter] == "1")
            #expect(head.headerFields[.contentType] == "application/problem+json")
            #expect(head.headerFields[.cacheControl] == "no-store")
            #expect(head.headerFields[.date] == "Tue, 14 Nov 2023 22:13:20 GMT")
            #expect(head.headerFields[requestID] == expected)
            let problem = try json(body)
            #expect(problem["type"]?.string == "urn:purser:error:overloaded")
            #expect(problem["status"]?.int64 == 503)
            #expect(problem["code"]?.string == "UNAVAILABLE")
            #expect(problem["requestId"]?.string == expected)
            #expect(problem["retryAfter"]?.int64 == 1)
        }
    }

    /// A place that is lost as soon as it is known whose it is.
    private struct LostPlace: RequestSlot {
        let told: @Sendable (String, String?) -> Void

        func belongs(to caller: String, showing authorization: String?) -> Bool {
            told(caller, authorization)
            return false
        }
        func beginIdling() {}
        func endIdling() {}
    }

    @Test(arguments: [HTTPRequest.Method.get, .head])
    func `a caller that holds more than its share hears the same, once it is known`(
        method: HTTPRequest.Method
    ) async throws {
        let fixture = try await RequestHandlerFixture()
        let told = Mutex<[String?]>([])
        let place = LostPlace { caller, authorization in told.withLock { $0 = [caller, authorization] } }
        var head = request([.authorization: "Bearer \(RequestHandlerFixture.token)"])
        head.method = method
        let response = await fixture.handler.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), from: EmbeddedChannel(), slot: place)
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "1")
        #expect(told.withLock { $0 } == ["billing", "Bearer \(RequestHandlerFixture.token)"])
        let collector = BodyCollector()
        try await response.body.write(collector)
        guard method == .get else { return #expect(collector.bytes.isEmpty) }
        #expect(try JSONValue(parsing: collector.bytes)["type"]?.string == "urn:purser:error:overloaded")
    }

    @Test func `a request that nobody is known for is a 401, whatever the places`() async throws {
        let fixture = try await RequestHandlerFixture()
        let response = await fixture.handler.respond(
            to: Request(head: request(), body: RequestBody(buffer: ByteBuffer())), from: EmbeddedChannel(),
            slot: LostPlace { _, _ in Issue.record("nobody is known") })
        #expect(response.status == .unauthorized)
    }

    @Test func `a program for Apple's server whose caller holds more than its share hears it in Apple's form`()
        async throws
    {
        let fixture = try await AppleProxyFixture()
        let response = await fixture.handler.respond(
            to: Request(
                head: request([.authorization: "Bearer \(AppleProxyFixture.key)"]),
                body: RequestBody(buffer: ByteBuffer())), from: EmbeddedChannel(), slot: LostPlace { _, _ in })
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "1700000001500")
    }

    @Test func `a program for Apple's server hears it in Apple's form`() async throws {
        let (head, body) = try await AppleProxyFixture().handler.shed(request())
        #expect(head.status == .serviceUnavailable)
        #expect(head.headerFields[.retryAfter] == "1700000001500")
        #expect(head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[requestID] == "made-here")
        #expect(try json(body)["errorCode"]?.int64 == 5_000_001)
    }
}
