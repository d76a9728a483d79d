import Domain
import HTTPTypes
import JSON
import NIOCore
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

    @Test func `a program for Apple's server hears it in Apple's form`() async throws {
        let (head, body) = try await AppleProxyFixture().handler.shed(request())
        #expect(head.status == .serviceUnavailable)
        #expect(head.headerFields[.retryAfter] == "1700000001500")
        #expect(head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[requestID] == "made-here")
        #expect(try json(body)["errorCode"]?.int64 == 5_000_001)
    }
}
