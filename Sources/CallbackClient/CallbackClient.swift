package import CoreMetrics
package import Curl
package import Domain
import Metrics

/// Posts what callbacks say, over connections of their own: what Apple is called by does not notice a slow receiver.
package struct CallbackClient: CallbackTransport {
    /// Connections to one host at a time: as many as there can be transfers, so that nobody waits for another's answer.
    private static let maximumTransfers = 1000
    /// Of an answer nothing is read but its status and `Retry-After`.
    private static let maximumAnswerBytes = 65_536

    private let client: CurlClient
    private let timeout: Duration
    private let now: WallClock
    private let factory: any MetricsFactory

    /// - Parameters:
    ///   - client: made with ``configuration(_:certificateAuthorityFile:userAgent:)``.
    ///   - policy: how long a receiver has.
    ///   - now: the time of day, for receivers that ask to be left alone until a time.
    ///   - factory: makes the metrics.
    package init(
        client: CurlClient, policy: CallbackPolicy, now: @escaping WallClock, factory: any MetricsFactory
    ) {
        self.client = client
        self.now = now
        timeout = policy.timeout
        self.factory = factory
    }

    /// How connections to receivers are made: to admitted addresses only, and through no proxy, which would connect in our place.
    package static func configuration(
        _ policy: CallbackPolicy, certificateAuthorityFile: String?, userAgent: String
    ) -> CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = certificateAuthorityFile
        configuration.userAgent = userAgent
        configuration.maximumConcurrentTransfers = maximumTransfers
        configuration.maximumConnectionsPerHost = maximumTransfers
        configuration.admitsAddress = { policy.admits(address: $0) }
        return configuration
    }

    package func post(_ message: CallbackMessage) async -> CallbackAnswer {
        let request = CurlRequest(
            .post, message.url.text,
            headers: [(name: "Content-Type", value: message.contentType)]
                + message.headers.map { (name: $0.name, value: $0.value) },
            body: message.body, connectTimeout: timeout, totalTimeout: timeout,
            maximumResponseBytes: Self.maximumAnswerBytes)
        do throws(CurlError) {
            let response = try await client.perform(request)
            count(message.app, "\(response.status / 100)xx")
            return .status(response.status, retryAfter: response.headers.retryAfter(at: now()))
        } catch {
            switch error.kind {
            case .cancelled, .shutDown: return .cancelled
            case .responseTooLarge:
                count(message.app, "none")
                return .none("the answer is larger than \(Self.maximumAnswerBytes) bytes")
            case .addressRefused:
                count(message.app, "refused")
                return .none(
                    "its host leads to an address that is not of the public Internet; `callbacks.allowedNetworks` allows such"
                )
            default:
                count(message.app, "none")
                return .none("\(error)")
            }
        }
    }

    private func count(_ app: String, _ result: String) {
        Counter(
            label: "purser_callback_attempts", dimensions: [("app", app), ("result", result)], factory: factory
        ).increment()
    }
}
