import Domain
import HTTPTypes
import TraceContext

extension TraceParent {
    /// The trace that a client says its request belongs to; nil unless it says so once, in a form that is valid.
    ///
    /// Source: W3C Trace Context, sections 3.2 and 3.3.1
    init?(_ headers: RequestHeaders) {
        let parents = headers[values: .traceparent]
        guard parents.count == 1, let text = parents.first else { return nil }
        let states = headers[values: .tracestate]
        self.init(text, state: states.isEmpty ? nil : states.joined(separator: ","))
    }
}

extension AccessRecord {
    /// What the span of a request shows: no more than its line in the access log, and of identifiers nothing.
    ///
    /// Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
    var traced: TracedWork {
        var attributes: [(key: String, value: TracedWork.Attribute)] = [
            ("http.request.method", .text(method.rawValue)), ("http.route", .text(route)),
            ("http.response.status_code", .number(status.code)), ("purser.listener", .text(listener)),
        ]
        if let caller { attributes.append(("purser.caller", .text(caller))) }
        if let failure { attributes.append(("error.type", .text(failure.reason.rawValue))) }
        return TracedWork("\(method.rawValue) \(route)", attributes, hasFailed: status.code >= 500)
    }
}
