import Foundation

/// Makes what is posted, posts it once, and says what came of it.
struct CallbackPoster: Sendable {
    private static let cloudEvents = "application/cloudevents+json; charset=utf-8"
    private static let json = "application/json"
    /// What a receiver answers that is gone for good (RFC 9110 section 15.5.11).
    static let goneStatus = 410

    let policy: @Sendable () -> CallbackPolicy
    let store: any CallbackStore
    let secrets: any CallbackSecrets
    let transport: any CallbackTransport
    let encoder: any CallbackEncoder
    let clock: ServiceClock

    /// What came of an event.
    enum Outcome: Sendable {
        /// `retryAfter`: for how long a receiver that did not take it asks to be left alone.
        case tried(CallbackAttempt, retryAfter: Duration? = nil)
        /// There is nothing to send any more: it was erased, or is not kept.
        case nothing
        /// The service is stopping, or another copy of it may send.
        case cancelled
    }

    /// Posts an event; what cannot be signed or read is an attempt that failed.
    ///
    /// `latestStart`: when it goes out at the latest; nil for no such moment.
    func post(
        _ event: ServiceEvent, to callback: Callback, epoch: String, signedBy sealed: [SealedSecretRecord],
        latestStart: ContinuousClock.Instant?
    ) async -> Outcome {
        let id = EventCursor(epoch: epoch, position: event.position)
        switch callback.format {
        case .apple:
            let known: String?
            do throws(ServiceError) {
                known = try await store.signedNotification(app: event.app, uuid: event.subject)
            } catch {
                return .tried(
                    CallbackAttempt(
                        eventID: id.text, type: event.kind.cloudEventType, startedAt: clock.now(), duration: .zero,
                        status: nil, failure: "the store cannot be read"))
            }
            guard let signed = known else { return .nothing }
            return await post(
                encoder.notification(signed), Self.json, [], to: callback, id: id.text,
                type: event.notificationType ?? event.kind.cloudEventType, latestStart: latestStart)
        case .cloudevents:
            return await postSigned(
                encoder.event(event, id: id), to: callback, id: id.text, type: event.kind.cloudEventType,
                signedBy: sealed, latestStart: latestStart)
        }
    }

    /// Posts an event that says nothing.
    ///
    /// - Throws: `storeUnavailable`.
    func postTest(_ callback: Callback, id: String) async throws(ServiceError) -> CallbackAttempt {
        let sealed = try await store.callbackSecrets(of: callback, at: clock.now())
        return try Self.attempt(
            await postSigned(
                encoder.test(app: callback.app, id: id, at: clock.now()), to: callback, id: id,
                type: Self.testType, signedBy: sealed))
    }

    /// Posts a notification once more; nil when it is not kept any more.
    ///
    /// - Throws: `storeUnavailable`.
    func postNotification(
        _ uuid: String, id: String, to callback: Callback
    ) async throws(ServiceError) -> CallbackAttempt? {
        guard let signed = try await store.signedNotification(app: callback.app, uuid: uuid) else { return nil }
        return try Self.attempt(
            await post(encoder.notification(signed), Self.json, [], to: callback, id: id, type: Self.testType))
    }

    /// The attribute `type` of a test.
    private static let testType = "purser.callback.test"

    private static func attempt(_ outcome: Outcome) throws(ServiceError) -> CallbackAttempt {
        guard case .tried(let attempt, _) = outcome else {
            throw ServiceError(.deadlineExceeded, "The receiver did not answer before the service stopped.")
        }
        return attempt
    }

    private func postSigned(
        _ body: [UInt8], to callback: Callback, id: String, type: String, signedBy sealed: [SealedSecretRecord],
        latestStart: ContinuousClock.Instant? = nil
    ) async -> Outcome {
        let timestamp = Int64(clock.now().timeIntervalSince1970.rounded(.down))
        do throws(ServiceError) {
            let signature = try secrets.signature(of: body, id: id, timestamp: timestamp, with: sealed)
            let headers = [
                CallbackHeader("webhook-id", id), CallbackHeader("webhook-timestamp", String(timestamp)),
                CallbackHeader("webhook-signature", signature),
            ]
            return await post(
                body, Self.cloudEvents, headers, to: callback, id: id, type: type, latestStart: latestStart)
        } catch {
            return .tried(
                CallbackAttempt(
                    eventID: id, type: type, startedAt: clock.now(), duration: .zero, status: nil,
                    failure: "it cannot be signed: \(error.message)"))
        }
    }

    private func post(
        _ body: [UInt8], _ contentType: String, _ headers: [CallbackHeader], to callback: Callback, id: String,
        type: String, latestStart: ContinuousClock.Instant? = nil
    ) async -> Outcome {
        let (startedAt, start) = (clock.now(), clock.monotonicNow())
        func tried(_ status: Int?, _ failure: String?, _ retryAfter: Duration? = nil) -> Outcome {
            .tried(
                CallbackAttempt(
                    eventID: id, type: type, startedAt: startedAt, duration: start.duration(to: clock.monotonicNow()),
                    status: status, failure: failure),
                retryAfter: failure == nil ? nil : retryAfter)
        }
        guard policy().admits(callback.url) else {
            return tried(nil, "`callbacks.allowedHosts` does not allow its host")
        }
        var message = CallbackMessage(
            app: callback.app, url: callback.url, contentType: contentType, headers: headers, body: body)
        message.latestStart = latestStart
        switch await transport.post(message) {
        case .status(let status, let retryAfter): return tried(status, Self.failure(status, retryAfter), retryAfter)
        case .none(let cause): return tried(nil, cause)
        case .cancelled: return .cancelled
        }
    }

    /// Why an answer does not count as received; nil where it does.
    private static func failure(_ status: Int, _ retryAfter: Duration?) -> String? {
        switch status {
        case 200..<300: return nil
        case 300..<400: return "the receiver answered \(status), and redirects are not followed"
        default:
            let asked = retryAfter.map { ", and asks to be left alone for \($0.components.seconds) s" } ?? ""
            return "the receiver answered \(status)\(asked)"
        }
    }
}
