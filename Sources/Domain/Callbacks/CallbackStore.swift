package import Foundation

/// Keeps callbacks, how far each is, and what waits to be sent again; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`.
package protocol CallbackStore: Sendable {
    // MARK: Their owners'

    /// An app's callbacks, the oldest first.
    func callbacks(app: String) async throws(ServiceError) -> [Callback]

    /// One of an app's callbacks.
    func callback(app: String, id: String) async throws(ServiceError) -> Callback?

    /// Keeps a callback, which begins with whatever happens next, and its secret.
    ///
    /// - Returns: nil when the app, or all apps together, have as many as they may.
    func addCallback(_ callback: Callback, secret: SealedSecretRecord?) async throws(ServiceError) -> Callback?

    /// Changes a callback.
    ///
    /// `change`: may be asked twice, must be quick, and must not call the store.
    ///
    /// - Returns: what it is then; nil when there is none.
    func changeCallback(
        app: String, id: String, _ change: @escaping @Sendable (inout Callback) -> Void
    ) async throws(ServiceError) -> Callback?

    /// Puts a new secret in the place of the present one, which goes on signing until a time.
    ///
    /// - Returns: what the callback is then; nil when there is none, or another secret has come meanwhile.
    func rotateCallbackSecret(
        app: String, id: String, secret: SealedSecretRecord, number: Int64, previousUntil: Date, at now: Date
    ) async throws(ServiceError) -> Callback?

    /// Lets a callback begin again behind a position; what waited to be sent again waits no more.
    func replayCallback(
        app: String, id: String, after position: Int64, at now: Date
    ) async throws(ServiceError) -> Callback?

    /// Removes a callback with all that is kept of it, its secrets included.
    func removeCallback(app: String, id: String) async throws(ServiceError) -> Bool

    /// The latest attempts first.
    func callbackAttempts(id: String, limit: Int) async throws(ServiceError) -> [CallbackAttempt]

    /// How many events wait to be sent again, and since when the first of them fails.
    func callbackBacklog(id: String) async throws(ServiceError) -> (waiting: Int, failingSince: Date?)

    // MARK: The sender's

    /// The callbacks that send: id and app of each.
    func activeCallbacks() async throws(ServiceError) -> [(id: String, app: String)]

    /// What one callback has to send at a time, which says what secrets sign.
    ///
    /// `place`: how far its sender has looked, which counts as long as the callback is the same.
    ///
    /// - Returns: nil when it sends nothing: it is gone, or paused.
    func callbackWork(id: String, behind place: CallbackPlace?, at now: Date) async throws(ServiceError)
        -> CallbackWork?

    /// What signs for a callback at a time, sealed; the present secret first.
    func callbackSecrets(of callback: Callback, at now: Date) async throws(ServiceError) -> [SealedSecretRecord]

    /// A notification as Apple signed it; nil when it is not kept any more, or was erased.
    func signedNotification(app: String, uuid: String) async throws(ServiceError) -> String?

    /// The UUID of the latest notification of an app that a filter admits among the last thousand events.
    func latestNotification(app: String, _ filter: CallbackFilter) async throws(ServiceError) -> String?

    /// Keeps what became of what was sent.
    ///
    /// - Returns: false when the callback has changed meanwhile, and nothing was kept: it is sent again.
    func concludeCallbackRound(_ round: CallbackRound) async throws(ServiceError) -> Bool

    /// All callbacks in brief, for the metrics and for the health details.
    func callbackStates() async throws(ServiceError) -> [CallbackStatus]

    /// When the first event happened that a callback has not been sent; nil when there is none among those that wait to be sent
    /// again and the next thousand behind its place.
    func oldestPendingEvent(callback id: String) async throws(ServiceError) -> Date?
}

/// How far a sender has looked for events of a callback, without any to send.
package struct CallbackPlace: Sendable, Equatable {
    /// The callback's then.
    package let revision: Int64
    package let position: Int64

    package init(revision: Int64, position: Int64) {
        self.revision = revision
        self.position = position
    }
}

/// What one callback has to send, as it stood at one moment.
package struct CallbackWork: Sendable {
    /// The most new events of one round.
    package static let batch = 32
    /// The most events that are looked at for them.
    package static let scan = 1000
    /// With so many events that wait to be sent again no new ones are taken: they wait where they are.
    package static let maximumWaiting = 256

    package let callback: Callback
    /// What signs, sealed; the present secret first.
    package let secrets: [SealedSecretRecord]
    /// What waits to be sent again, in the order of positions.
    package let waiting: [CallbackEntry]
    /// New events that its filter admits, in order.
    package let events: [CallbackEvent]
    /// Up to where events were looked at.
    package let scanned: Int64
    /// Whether there is more behind that.
    package let hasMore: Bool
    /// Whether events that were never looked at are not kept any more.
    package let hasMissedEvents: Bool
    /// Which store positions are of.
    package let epoch: String
    /// Whether nothing is sent because the store came from a backup.
    package let isHeld: Bool

    package init(
        callback: Callback, secrets: [SealedSecretRecord], waiting: [CallbackEntry], events: [CallbackEvent],
        scanned: Int64, hasMore: Bool, hasMissedEvents: Bool, epoch: String, isHeld: Bool
    ) {
        self.callback = callback
        self.secrets = secrets
        self.waiting = waiting
        self.events = events
        self.scanned = scanned
        self.hasMore = hasMore
        self.hasMissedEvents = hasMissedEvents
        self.epoch = epoch
        self.isHeld = isHeld
    }
}

/// An event that waits to be sent again, or behind one of its lane that does.
package struct CallbackEntry: Sendable, Equatable {
    package let position: Int64
    package let lane: String
    package var attempts: Int
    /// When it failed first; nil when it was not tried yet.
    package var firstFailedAt: Date?
    /// Nil: as soon as its lane is free.
    package var nextAttemptAt: Date?
    /// Nil when the event is not kept any more.
    package let event: CallbackEvent?

    package init(
        position: Int64, lane: String, attempts: Int = 0, firstFailedAt: Date? = nil, nextAttemptAt: Date? = nil,
        event: CallbackEvent? = nil
    ) {
        self.position = position
        self.lane = lane
        self.attempts = attempts
        self.firstFailedAt = firstFailedAt
        self.nextAttemptAt = nextAttemptAt
        self.event = event
    }
}

/// What became of what a callback had to send.
package struct CallbackRound: Sendable {
    package let id: String
    /// The callback's when the round began.
    package let revision: Int64
    /// Up to where everything was sent or waits.
    package var position: Int64
    package var hasMissedEvents = false
    /// What was received, or cannot be sent any more.
    package var done: [Int64] = []
    /// What failed, or waits behind what did.
    package var waiting: [CallbackEntry] = []
    package var attempts: [CallbackAttempt] = []
    /// Why nothing more is sent.
    package var pause: Callback.PauseReason?
    package let at: Date

    package init(id: String, revision: Int64, position: Int64, at now: Date) {
        self.id = id
        self.revision = revision
        self.position = position
        at = now
    }
}

/// A callback in brief.
package struct CallbackStatus: Sendable, Equatable {
    package let id: String
    package let app: String
    package let state: Callback.State
    package let pauseReason: Callback.PauseReason?
    /// How many events wait to be sent again.
    package let waiting: Int

    package init(id: String, app: String, state: Callback.State, pauseReason: Callback.PauseReason?, waiting: Int) {
        self.id = id
        self.app = app
        self.state = state
        self.pauseReason = pauseReason
        self.waiting = waiting
    }
}
