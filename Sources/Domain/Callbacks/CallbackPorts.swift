package import Foundation

/// Posts what callbacks say; it follows no redirect, and connects to no address that the policy does not admit.
package protocol CallbackTransport: Sendable {
    /// Posts once, and waits for the answer as long as the policy says.
    func post(_ message: CallbackMessage) async -> CallbackAnswer
}

/// What is posted to a receiver.
package struct CallbackMessage: Sendable, Equatable {
    /// The app's slug, for the metrics.
    package let app: String
    package let url: CallbackURL
    package let contentType: String
    package let headers: [CallbackHeader]
    package let body: [UInt8]
    /// When it goes out at the latest, as another copy of the daemon may send it afterwards; nil for no such moment.
    package var latestStart: ContinuousClock.Instant?

    package init(app: String, url: CallbackURL, contentType: String, headers: [CallbackHeader], body: [UInt8]) {
        self.app = app
        self.url = url
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }
}

/// A field of the head of what is posted.
package struct CallbackHeader: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What came back.
package enum CallbackAnswer: Sendable, Equatable {
    /// The status of the receiver's answer, and for how long it asks to be left alone.
    case status(Int, retryAfter: Duration? = nil)
    /// Why there is no answer, in words without a URL.
    case none(String)
    /// The service is stopping, so that nobody waited for an answer; or it was too late for it to go out.
    case cancelled
}

/// Makes and seals the secrets of callbacks, and signs with them: nobody else has their bytes after they were shown once.
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
package protocol CallbackSecrets: Sendable {
    /// Draws a secret at random.
    ///
    /// - Returns: what the receiver needs, `whsec_…`, and what is kept under the name given.
    /// - Throws: `keyUnavailable`.
    func make(_ name: String, at now: Date) throws(ServiceError) -> (text: String, record: SealedSecretRecord)

    /// The value of `webhook-signature`: a signature for each secret.
    ///
    /// - Throws: `keyUnavailable`, whose message says which secret does not open.
    func signature(
        of body: [UInt8], id: String, timestamp: Int64, with secrets: [SealedSecretRecord]
    ) throws(ServiceError) -> String
}

/// Writes what is posted.
package protocol CallbackEncoder: Sendable {
    /// An event as a CloudEvent in JSON.
    func event(_ event: ServiceEvent, id: EventCursor) -> [UInt8]

    /// A CloudEvent that says nothing but that a test was asked for.
    func test(app: String, id: String, at now: Date) -> [UInt8]

    /// What Apple posts: an object with the signed notification.
    func notification(_ signed: String) -> [UInt8]
}
