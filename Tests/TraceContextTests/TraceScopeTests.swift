import InMemoryTracing
import Logging
import Testing
import Tracing

@testable import TraceContext

struct TraceScopeTests {
    private let tracer = InMemoryTracer()

    private func work(_ name: String, hasFailed: Bool = false) -> TracedWork {
        TracedWork(
            name, [("http.response.status_code", .number(200)), ("purser.app", .text("coins"))], hasFailed: hasFailed)
    }

    @Test func withoutATracerATraceThatCameIsCarriedAndNothingElseIsDone() async throws {
        let parent = try #require(TraceParent(TraceParentTests.text))
        let scope = TraceScope()
        let seen = await scope.serve("GET", within: parent) {
            TraceParent.current
        } shown: { _ in
            work("GET /")
        }
        #expect(seen?.traceID == parent.traceID && seen?.spanID != parent.spanID)
        let logged = await scope.serve("GET", within: parent) {
            TraceScope.metadataProvider.get()
        } shown: { _ in
            work("GET /")
        }
        #expect(logged["trace_id"] == "\(parent.traceID)" && logged["span_id"] != nil)
        let none = await scope.serve("GET", within: nil) {
            ServiceContext.current == nil
        } shown: { _ in
            work("GET /")
        }
        #expect(none)
        #expect(TraceScope.metadataProvider.get().isEmpty)
    }

    @Test func aTracerGetsASpanOfEachRequestAndOfEachCallWithinIt() async throws {
        let parent = try #require(TraceParent(TraceParentTests.text))
        let scope = TraceScope(tracer: tracer)
        let inner = await scope.serve("GET", within: parent) {
            await scope.call("getTransactionInfo") {
                TraceParent.current
            } shown: { _ in
                work("getTransactionInfo", hasFailed: true)
            }
        } shown: { _ in
            work("GET /v1/apps/{app}")
        }
        #expect(inner?.traceID == parent.traceID)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["getTransactionInfo", "GET /v1/apps/{app}"])
        #expect(spans.map(\.kind) == [.client, .server])
        #expect(spans.first?.status?.code == .error && spans.last?.status == nil)
        #expect(spans.first?.traceID == spans.last?.traceID && spans.first?.parentSpanID == spans.last?.spanID)
        #expect(spans.last?.attributes.get("http.response.status_code") == .int64(200))
        #expect(tracer.activeSpans.isEmpty)
    }
}
