import AppStoreAPI
import Curl
import Domain

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
    /// - Returns: Apple's answer.
    /// - Throws: `CurlError` when there is none.
    func send(
        _ request: UpstreamRequest, _ token: BearerToken, _ environment: AppStoreEnvironment, within timeout: Duration
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
        transfer.needsOwnConnection = !request.isRepeatable
        return try await client.perform(transfer)
    }

    /// POST and PUT announce the length of their content even if there is none (RFC 9110 section 8.6).
    private func body(of request: UpstreamRequest) -> [UInt8]? {
        request.body ?? (["POST", "PUT"].contains(request.operation.method) ? [] : nil)
    }
}
