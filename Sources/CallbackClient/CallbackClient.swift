package import CoreMetrics
package import Curl
package import Domain
import Metrics
package import TraceContext

/// Posts what callbacks say, over connections of their own: what Apple is called by does not notice a slow receiver.
package struct CallbackClient: CallbackTransport {
    /// Connections to one host at a time: as many as there can be transfers, so that nobody waits for another's answer.
    private static let maximumTransfers = 1000
    /// Of an answer nothing is read but its status and `Retry-After`.
    private static let maximumAnswerBytes = 65_536

    private let client: CurlClient
    private let timeout: @Sendable () -> Duration
    private let now: WallClock
    private let factory: any MetricsFactory
    private let tracing: TraceScope

    /// - Parameters:
    ///   - client: made with ``configuration(_:certificateAuthorityFile:userAgent:)``.
    ///   - timeout: how long a receiver has, at present.
    ///   - now: the time of day, for receivers that ask to be left alone until a time.
    ///   - factory: makes the metrics.
    ///   - tracing: makes spans of posts.
    package init(
        client: CurlClient, timeout: @escaping @Sendable () -> Duration, now: @escaping WallClock,
        factory: any MetricsFactory, tracing: TraceScope = TraceScope()
    ) {
        self.client = client
        self.timeout = timeout
        self.now = now
        self.factory = factory
        self.tracing = tracing
    }

    /// How connections to receivers are made: to admitted addresses only, and through no proxy, which would connect in our place.
    ///
    /// `policy`: which addresses are admitted, at present.
    package static func configuration(
        _ policy: @escaping @Sendable () -> CallbackPolicy, certificateAuthorityFile: String?, userAgent: String
    ) -> CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = certificateAuthorityFile
        configuration.userAgent = userAgent
        configuration.maximumConcurrentTransfers = maximumTransfers
        configuration.maximumConnectionsPerHost = maximumTransfers
        configuration.admitsAddress = { policy().admits(address: $0) }
        return configuration
    }

    package func post(_ message: CallbackMessage) async -> CallbackAnswer {
        await tracing.call("callback") {
            await send(message)
        } shown: {
            Self.traced($0, message)
        }
    }

    /// What the span of a post shows.
    private static func traced(_ answer: CallbackAnswer, _ message: CallbackMessage) -> TracedWork {
        var attributes: [(key: String, value: TracedWork.Attribute)] = [("purser.app", .text(message.app))]
        guard case .status(let status, retryAfter: _) = answer else {
            return TracedWork("callback", attributes, hasFailed: true)
        }
        attributes.append(("http.response.status_code", .number(status)))
        return TracedWork("callback", attributes, hasFailed: !(200...299).contains(status))
    }

    private func send(_ message: CallbackMessage) async -> CallbackAnswer {
        // What made the event may be days ago, or Apple's: a post that belongs to no trace begins one.
        let trace = TraceParent.current?.child() ?? .root()
        let timeout = timeout()
        var request = CurlRequest(
            .post, message.url.text,
            headers: [(name: "Content-Type", value: message.contentType)] + trace.headers
                + message.headers.map { (name: $0.name, value: $0.value) },
            body: message.body, connectTimeout: timeout, totalTimeout: timeout,
            maximumResponseBytes: Self.maximumAnswerBytes)
        request.latestStart = message.latestStart
        do throws(CurlError) {
            let response = try await client.perform(request)
            count(message.app, "\(response.status / 100)xx")
            return .status(response.status, retryAfter: response.headers.retryAfter(at: now()))
        } catch {
            switch error.kind {
            case .cancelled, .shutDown, .tooLate: return .cancelled
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
