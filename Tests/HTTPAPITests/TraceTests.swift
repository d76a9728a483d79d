import HTTPTypes
import InMemoryTracing
import Logging
import Synchronization
import TestSupport
import Testing
import TraceContext
import Tracing

@testable import HTTPAPI

/// What a request tells of the trace that it belongs to.
struct TraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let header = "00-\(trace)-00f067aa0ba902b7-01"

    private func headers(_ parents: [String]) throws -> HTTPFields {
        let name = try #require(HTTPField.Name("traceparent"))
        return HTTPFields(parents.map { HTTPField(name: name, value: $0) })
    }

    @Test func aRequestWithATraceHasItInItsLogLine() async throws {
        let log = RecordedLog()
        var logger = log.logger
        logger.handler.metadataProvider = TraceScope.metadataProvider
        let fixture = try await RequestHandlerFixture(logger: logger)
        let reply = try await fixture.send(.get, "/v1/apps/coins/cases", headers: headers([Self.header]))
        #expect(reply.status == 200)
        let line = try #require(log.lines("Request answered").first)
        #expect(line.metadata["trace_id"] == Self.trace)
        #expect(line.metadata["span_id"]?.count == 16 && line.metadata["span_id"] != "00f067aa0ba902b7")
    }

    @Test(arguments: [[], ["nonsense"], [header, header]])
    func whoSendsNoneOrNoValidOneHasNone(_ parents: [String]) async throws {
        let log = RecordedLog()
        var logger = log.logger
        logger.handler.metadataProvider = TraceScope.metadataProvider
        let fixture = try await RequestHandlerFixture(logger: logger)
        _ = try await fixture.send(.get, "/v1/apps/coins/cases", headers: headers(parents))
        let line = try #require(log.lines("Request answered").first)
        #expect(line.metadata["trace_id"] == nil)
    }

    @Test func aSpanShowsTheRouteAndNoIdentifier() async throws {
        let tracer = InMemoryTracer()
        let fixture = try await RequestHandlerFixture(tracing: TraceScope(tracer: tracer))
        _ = try await fixture.send(.get, "/v1/apps/coins/users/alice/consent")
        _ = try await fixture.send(.get, "/v1/apps/coins/users/alice/consent", token: nil)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName).first == "GET /v1/apps/{app}/users/{user}/consent")
        #expect(spans.map { $0.attributes.get("http.response.status_code") }.last == .int64(401))
        #expect(spans.first?.attributes.get("purser.caller") == .string("billing"))
        #expect(!spans.contains { "\($0)".contains("alice") || "\($0)".contains("Bearer") })
    }
}
