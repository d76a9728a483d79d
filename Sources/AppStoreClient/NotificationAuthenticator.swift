package import Domain
import Foundation
import JSON

/// Tells whether Apple signed a notification that somebody posted to us, and whether it is for the app in whose name it came.
package struct NotificationAuthenticator: NotificationVerifier {
    /// How many checks of unknown chains wait for room at most; Apple waits seconds for an answer, each check takes about
    /// two milliseconds.
    static let maximumWaiting = 256
    /// How many of them may be one requester's: a single address cannot make Apple's own wait long, or take all places.
    static let maximumWaitingOfOne = 64

    private let decoder: SignedDataDecoder
    private let bound: ChainCheckBound

    /// `concurrentChecks`: how many unknown chains are checked at the same time, so that others get their turn.
    package init(
        verifier: SignedDataVerifier, meter: UpstreamMeter,
        concurrentChecks: Int = ChainCheckBound.defaultConcurrency
    ) {
        self.init(
            verifier: verifier, meter: meter,
            bound: ChainCheckBound(
                underWay: concurrentChecks, waiting: Self.maximumWaiting, waitingOfOne: Self.maximumWaitingOfOne))
    }

    init(verifier: SignedDataVerifier, meter: UpstreamMeter, bound: ChainCheckBound) {
        decoder = SignedDataDecoder(verifier: verifier, meter: meter)
        self.bound = bound
    }

    package func notification(
        _ signed: String, app: App, for requester: Requester
    ) async throws(ServiceError) -> AppleNotification {
        do throws(ServiceError) {
            let notification = try await verified(signed, app, requester)
            decoder.meter.countVerification("verified")
            return notification
        } catch {
            decoder.meter.countVerification(error.reason.rawValue)
            throw error
        }
    }

    package func claims(of signed: String) -> NotificationClaims { NotificationClaims(unverified: signed) }

    package func subject(of signed: String) -> NotificationSubject { NotificationSubject(unverified: signed) }

    private func verified(
        _ signed: String, _ app: App, _ requester: Requester
    ) async throws(ServiceError) -> AppleNotification {
        let (members, subject) = try await authenticated(signed, requester)
        guard let environment = subject.environment.flatMap(AppStoreEnvironment.init(rawValue:)) else {
            throw Self.misdirected("it names neither of Apple's two environments")
        }
        if let fault = subject.fault(.notification, app: app, environment: environment) {
            throw Self.misdirected(fault.detail)
        }
        guard app.environments.contains(environment) else {
            throw Self.misdirected("the app is not configured for \(environment.rawValue)")
        }
        do throws(ServiceError) {
            return try decoder.notification(members, signed: signed, from: .init(app: app, environment: environment))
        } catch {
            // Apple signed the whole, so that what does not fit within is for people to look at.
            throw Self.misdirected(error.cause ?? error.message)
        }
    }

    /// The members of what Apple signed, and whose it is.
    private func authenticated(
        _ signed: String, _ requester: Requester
    ) async throws(ServiceError) -> (members: JSONMembers, origin: SignedDataOrigin) {
        switch try await bound.authenticated(signed, .notification, by: decoder.verifier, for: requester) {
        case .success(let data):
            let members = data.verified.members
            // Every app's users have transactions that Apple signed, and can send them here.
            guard ["notificationUUID", "notificationType"].allSatisfy({ members[$0]?.string?.utf8.isEmpty == false })
            else {
                throw ServiceError(
                    .signatureInvalid, "Apple signed this, but not as a notification.",
                    cause: "notificationUUID or notificationType is missing")
            }
            return (members, data.origin)
        case .failure(let fault):
            if fault.status == .environmentNotSupported { throw ServiceError(.environmentNotSupported, fault.detail) }
            throw ServiceError(.signatureInvalid, "Apple did not sign this notification.", cause: fault.detail)
        }
    }

    private static func misdirected(_ fault: String) -> ServiceError {
        ServiceError(
            .notificationMisdirected,
            "Apple signed this notification, but not for this app or environment as they are configured here.",
            cause: fault)
    }
}
