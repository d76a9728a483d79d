package import Logging
package import Tracing

/// Under which key the trace of a piece of work stands in its context.
private enum TraceParentKey: ServiceContextKey {
    typealias Value = TraceParent
}

extension ServiceContext {
    /// The trace that the work belongs to; nil for work that nobody traces.
    package var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }
}

extension TraceParent {
    /// The trace that the present task works for; nil for work that nobody traces.
    package static var current: TraceParent? { ServiceContext.current?.traceParent }
}

/// Makes spans of pieces of work where there is a tracer, and carries the trace that a client has begun where there is none.
///
/// No exporter is part of the program; whoever adds one gives its tracer to the composition root, and every span is there.
package struct TraceScope: Sendable {
    private let tracer: (any Tracer)?

    /// `tracer`: who records spans; nil for nobody, which costs nothing.
    package init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// What a log line says of the trace that its work belongs to: `trace_id` and `span_id`.
    package static let metadataProvider = Logger.MetadataProvider {
        guard let parent = TraceParent.current else { return [:] }
        return ["trace_id": "\(parent.traceID)", "span_id": "\(parent.spanID)"]
    }

    /// Does work that came from outside, as a span of the trace that it brought.
    ///
    /// - Parameters:
    ///   - name: what it is called until its route is known.
    ///   - parent: what the client said of its trace; nil for nothing.
    ///   - operation: the work.
    ///   - shown: what the span shows of it; asked for where there is a tracer alone.
    /// - Returns: what the work returns.
    package func serve<Result>(
        _ name: String, within parent: TraceParent?, _ operation: () async -> Result, shown: (Result) -> TracedWork
    ) async -> Result {
        guard parent != nil || tracer != nil else { return await operation() }
        var context = ServiceContext.topLevel
        context.traceParent = parent?.child()
        guard let tracer else { return await ServiceContext.withValue(context) { await operation() } }
        return await record(tracer.startAnySpan(name, context: context, ofKind: .server), operation, shown)
    }

    /// Does work that asks somebody else, as a span of its own where there is a tracer.
    ///
    /// - Parameters:
    ///   - name: what is asked.
    ///   - operation: the work.
    ///   - shown: what the span shows of it; asked for where there is a tracer alone.
    /// - Returns: what the work returns.
    package func call<Result>(
        _ name: String, _ operation: () async -> Result, shown: (Result) -> TracedWork
    ) async -> Result {
        guard let tracer else { return await operation() }
        let context = ServiceContext.current ?? .topLevel
        return await record(tracer.startAnySpan(name, context: context, ofKind: .client), operation, shown)
    }

    private func record<Result>(
        _ span: any Span, _ operation: () async -> Result, _ shown: (Result) -> TracedWork
    ) async -> Result {
        let result = await ServiceContext.withValue(span.context) { await operation() }
        let work = shown(result)
        span.operationName = work.name
        for (key, value) in work.attributes { span.attributes[key] = value.spanAttribute }
        if work.hasFailed { span.setStatus(SpanStatus(code: .error)) }
        span.end()
        return result
    }
}

/// What a span shows of the work that it stood for; its values are those that metrics may have as labels, never a user's.
package struct TracedWork: Sendable {
    /// The span's name: a route or an operation, with no identifier in it.
    package var name: String
    /// By the names of OpenTelemetry's conventions where it has one.
    package var attributes: [(key: String, value: Attribute)]
    /// Whether it failed by our fault or that of whom it asked.
    package var hasFailed: Bool

    package init(_ name: String, _ attributes: [(key: String, value: Attribute)], hasFailed: Bool) {
        self.name = name
        self.attributes = attributes
        self.hasFailed = hasFailed
    }

    /// A value of an attribute.
    package enum Attribute: Sendable, Equatable {
        case text(String)
        case number(Int)

        fileprivate var spanAttribute: SpanAttribute {
            switch self {
            case .text(let text): .string(text)
            case .number(let number): .int64(Int64(number))
            }
        }
    }
}
