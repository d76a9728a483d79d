import AppStoreAPI
import JSON

/// One call of Apple's API, before it has a host and a token.
struct UpstreamRequest: Sendable {
    let operation: Endpoint.Operation
    /// What follows the host in the URL, as it is sent: path and query, percent-encoded.
    let target: String
    /// The type of the body.
    let contentType: String?
    let body: [UInt8]?

    init(_ endpoint: Endpoint, body: [UInt8]? = nil) {
        self.init(endpoint.operation, target: endpoint.pathAndQuery, contentType: "application/json", body: body)
    }

    /// A call whose target, content type and body are sent as somebody else wrote them.
    init(_ operation: Endpoint.Operation, target: String, contentType: String?, body: [UInt8]?) {
        self.operation = operation
        self.target = target
        self.contentType = contentType
        self.body = body
    }

    /// Whether the call only reads, so that those who ask the same at the same time can share one answer.
    var isShareable: Bool { operation.method == "GET" }

    /// Whether the call may be made again although Apple may have acted on it already: it has no effect of its own, or
    /// carries the identifier by which Apple recognises it.
    ///
    /// Source: `Endpoint.Repetition`; https://developer.apple.com/documentation/advancedcommerceapi/requestinfo
    var isRepeatable: Bool {
        switch operation.repetition {
        case .safe: true
        case .sameIdentifier: carriesIdentifier
        case .never: false
        }
    }

    private var carriesIdentifier: Bool {
        guard let body, let members = try? JSONScanner.members(of: body) else { return false }
        let identifier =
            operation.api == .advancedCommerce
            ? members["requestInfo"]?.object?["requestReferenceId"] : members["requestIdentifier"]
        return identifier?.string.map { !$0.isEmpty } ?? false
    }
}
