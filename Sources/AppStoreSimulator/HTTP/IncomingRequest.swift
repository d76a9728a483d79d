import Foundation

/// A request as the simulator's services see it, whatever the HTTP version.
struct IncomingRequest: Sendable {
    let method: String
    /// Path and query as they came, percent-encoded.
    let target: String
    let authorization: String?
    let contentType: String?
    /// When its end came in.
    let arrival: Date
    /// Nil when the body is longer than the listener takes.
    var body: [UInt8]?

    /// The request without its body, if that is longer.
    func limited(to count: Int) -> IncomingRequest {
        var request = self
        if let body, body.count > count { request.body = nil }
        return request
    }

    /// The path, percent-encoded.
    var path: Substring { target.prefix { $0 != "?" } }

    /// The query's parameters, decoded.
    var query: [QueryItem] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return QueryItem.parse(target[target.index(after: mark)...])
    }
}
