import AppStoreAPI
import Curl
package import Domain

extension AppStoreClient: AppleDoor {
    package func match(method: String, path: String) -> DoorMatch { DoorMatch(method: method, path: path) }

    package func forward(_ request: DoorRequest, _ call: UpstreamCall) async throws(ServiceError) -> DoorAnswer {
        guard let environment = call.environment, let upstream = UpstreamRequest(forwarding: request) else {
            throw ServiceError(.internalError, "Internal error.", cause: "forwarded without an environment or a call")
        }
        let outcome = await caller.call(upstream, call, in: environment)
        // Apple's 401 is none: it is about our token, not about the caller's.
        if let answer = outcome.answer { return DoorAnswer(answer) }
        switch outcome.result {
        case .success(let response): return DoorAnswer(response)
        case .failure(let failure): throw failure.error
        }
    }
}

extension UpstreamRequest {
    /// A call as somebody else wrote it; nil when it is none of Apple's.
    fileprivate init?(forwarding request: DoorRequest) {
        guard
            case .found(let operation, _) = Endpoint.Operation.match(method: request.method, path: request.path[...])
        else { return nil }
        self.init(
            operation, target: request.path + (request.query.map { "?\($0)" } ?? ""), contentType: request.contentType,
            body: request.body)
    }
}

extension DoorAnswer {
    fileprivate init(_ response: CurlResponse) {
        self.init(
            status: response.status, contentType: response.headers["Content-Type"],
            retryAfter: response.headers["Retry-After"], body: response.body)
    }
}
