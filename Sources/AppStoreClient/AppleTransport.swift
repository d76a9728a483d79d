import AppStoreAPI
import Curl
import Domain
import JSON

/// Carries one attempt to Apple's host and brings its answer, whatever that is.
struct AppleTransport: Sendable {
    let configuration: UpstreamConfiguration
    let client: CurlClient

    /// Sends a request once.
    ///
    /// - Parameters:
    ///   - request: what to send; one that must not be repeated gets a connection of its own, because curl would repeat
    ///     it on a dead one.
    ///   - token: goes into the `Authorization` field.
    ///   - environment: decides the host.
    ///   - timeout: the most that the attempt may take.
    ///   - end: when it is over, by the machine's own clock; a process that was stopped sends nothing of it afterwards.
    /// - Returns: Apple's answer.
    /// - Throws: `CurlError` when there is none.
    func send(
        _ request: UpstreamRequest, _ token: BearerToken, _ environment: AppStoreEnvironment, within timeout: Duration,
        until end: ContinuousClock.Instant? = nil
    ) async throws(CurlError) -> CurlResponse {
        var headers = [
            (name: "Authorization", value: "Bearer \(token.value)"), (name: "Accept", value: "application/json"),
        ]
        if request.body != nil, let contentType = request.contentType {
            headers.append((name: "Content-Type", value: contentType))
        }
        // Without host or method the request is malformed, and curl says so.
        var transfer = CurlRequest(
            CurlRequest.Method(rawValue: request.operation.method) ?? .get,
            (configuration.baseURLs[environment] ?? "") + request.target, headers: headers,
            body: body(of: request), connectTimeout: configuration.connectTimeout,
            totalTimeout: min(configuration.attemptTimeout, timeout),
            maximumResponseBytes: configuration.maximumResponseBytes)
        transfer.latestEnd = end
        transfer.needsOwnConnection = !request.isRepeatable
        return try await client.perform(transfer)
    }

    /// POST and PUT announce the length of their content even if there is none (RFC 9110 section 8.6).
    private func body(of request: UpstreamRequest) -> [UInt8]? {
        request.body ?? (["POST", "PUT"].contains(request.operation.method) ? [] : nil)
    }
}

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
        return identifier?.string.map { !$0.utf8.isEmpty } ?? false
    }
}
