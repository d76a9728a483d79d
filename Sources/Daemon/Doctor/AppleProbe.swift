import AppStoreAPI
import Curl
import Domain

/// One call of Apple's without any of the care that the daemon takes: no retries, no budget, no memory.
///
/// What is wrong must show, not be mended on the way.
struct AppleProbe: Sendable {
    let client: CurlClient
    let tokens: any TokenSource
    let baseURLs: [AppStoreEnvironment: String]
    let connectTimeout: Duration
    let totalTimeout: Duration

    /// What came of a call.
    enum Outcome: Sendable {
        case answer(CurlResponse)
        case unreachable(CurlError)
        case noToken(ServiceError)
    }

    func call(_ endpoint: Endpoint, for app: App, in environment: AppStoreEnvironment) async -> Outcome {
        let token: BearerToken
        do {
            token = try await tokens.token(for: app)
        } catch {
            return .noToken(error)
        }
        let method = CurlRequest.Method(rawValue: endpoint.method) ?? .get
        let request = CurlRequest(
            method, (baseURLs[environment] ?? "") + endpoint.pathAndQuery,
            headers: [
                (name: "Authorization", value: "Bearer \(token.value)"), (name: "Accept", value: "application/json"),
            ],
            body: method == .post ? [] : nil, connectTimeout: connectTimeout, totalTimeout: totalTimeout,
            maximumResponseBytes: 1 << 20)
        do throws(CurlError) {
            return .answer(try await client.perform(request))
        } catch {
            return .unreachable(error)
        }
    }
}
