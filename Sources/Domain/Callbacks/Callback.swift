package import Foundation

/// A subscription of one app: where what happens is posted, and how far that is.
package struct Callback: Sendable, Equatable {
    /// How many an app may have.
    package static let maximumPerApp = 10
    /// How many there may be in all: each sends on its own, so that none delays another.
    package static let maximumInAll = 200

    /// What is posted.
    package enum Format: String, Sendable, CaseIterable {
        /// Apple's notifications as Apple posts them: `{"signedPayload": "…"}`.
        case apple
        /// Our events as CloudEvents in JSON, signed by Standard Webhooks.
        case cloudevents
    }

    package enum State: String, Sendable, CaseIterable {
        case active
        /// Nothing is sent; what happens meanwhile waits for as long as events are kept.
        case paused
    }

    /// Why nothing is sent.
    package enum PauseReason: String, Sendable, CaseIterable {
        /// Somebody has asked for it.
        case requested
        /// An event was refused for as long as one is tried.
        case failing
        /// The receiver has answered 410: it is gone for good.
        case gone
    }

    package let id: String
    /// The app's slug.
    package let app: String
    package let format: Format
    package var url: CallbackURL
    package var filter: CallbackFilter
    /// What its owner calls it; empty for nothing.
    package var description: String
    package var state = State.active
    package var pauseReason: PauseReason?
    package let createdAt: Date
    /// The caller that made it.
    package let createdBy: String
    package var updatedAt: Date
    /// Up to which event everything was sent, or waits to be sent again.
    package var position: Int64 = 0
    /// Whether events that it never got are not kept any more: it was paused or failed for too long.
    package var hasMissedEvents = false
    /// Which secret signs: they are counted from 1; zero where none does.
    package var secretNumber: Int64 = 0
    /// Until when the secret before signs too.
    package var previousSecretUntil: Date?
    /// Changes with every change of it that its sending must not overlook.
    package var revision: Int64 = 0

    package init(
        id: String, app: String, format: Format, url: CallbackURL, filter: CallbackFilter, description: String,
        createdAt: Date, createdBy: String
    ) {
        self.id = id
        self.app = app
        self.format = format
        self.url = url
        self.filter = filter
        self.description = description
        self.createdAt = createdAt
        self.createdBy = createdBy
        updatedAt = createdAt
    }

    /// The name under which one of its secrets is sealed.
    package static func secretName(_ id: String, _ number: Int64) -> String { "\(id)/\(number)" }

    /// The names of the secrets that sign at a time, the present one first.
    package func secretNames(at now: Date) -> [String] {
        guard secretNumber > 0 else { return [] }
        let previous = previousSecretUntil.map { $0 > now } ?? false
        return (previous ? [secretNumber, secretNumber - 1] : [secretNumber]).map { Self.secretName(id, $0) }
    }
}

/// Which of an app's events a callback is told of: those that satisfy every part which is not empty.
package struct CallbackFilter: Sendable, Equatable {
    /// The most types or products of one callback.
    package static let maximumCount = 100

    /// In the format `apple` Apple's notification types, else the types of our events, such as `purser.case.opened`.
    package var types: Set<String>
    /// Apple's product ids; an event that is about no known product is none of theirs.
    package var products: Set<String>
    package var environments: Set<AppStoreEnvironment>

    package init(
        types: Set<String> = [], products: Set<String> = [], environments: Set<AppStoreEnvironment> = []
    ) {
        self.types = types
        self.products = products
        self.environments = environments
    }

    /// Whether an event is to be sent.
    package func admits(_ event: CallbackEvent, format: Callback.Format) -> Bool {
        let type: String?
        switch format {
        case .apple:
            guard event.event.kind == .notificationReceived else { return false }
            type = event.event.notificationType
        case .cloudevents: type = event.event.kind.cloudEventType
        }
        return (types.isEmpty || type.map(types.contains) == true)
            && (products.isEmpty || event.productID.map(products.contains) == true)
            && (environments.isEmpty || event.event.environment.map(environments.contains) == true)
    }
}

extension ServiceEvent.Kind {
    /// The attribute `type` of the CloudEvent.
    package var cloudEventType: String { "purser.\(rawValue)" }
}

/// An event with what callbacks ask about it.
package struct CallbackEvent: Sendable, Equatable {
    package let event: ServiceEvent
    /// Apple's id of the product that it is about, where that is known.
    package let productID: String?
    /// The transaction that it is about, of a case the case's: what is in one lane is sent in its order.
    package let lane: String

    package init(event: ServiceEvent, productID: String?, lane: String) {
        self.event = event
        self.productID = productID
        self.lane = lane
    }
}

/// One try to send an event, as operators and the callback's owner see it.
package struct CallbackAttempt: Sendable, Equatable {
    /// How many are kept of each callback.
    package static let maximumKept = 200

    /// Their order; zero until it is kept.
    package let number: Int64
    /// The event's id as the receiver sees it.
    package let eventID: String
    package let type: String
    package let startedAt: Date
    package let duration: Duration
    /// What the receiver answered; nil where it did not.
    package let status: Int?
    /// Why it does not count as received; nil where it does.
    package let failure: String?

    package init(
        number: Int64 = 0, eventID: String, type: String, startedAt: Date, duration: Duration, status: Int?,
        failure: String?
    ) {
        self.number = number
        self.eventID = eventID
        self.type = type
        self.startedAt = startedAt
        self.duration = duration
        self.status = status
        self.failure = failure
    }
}
