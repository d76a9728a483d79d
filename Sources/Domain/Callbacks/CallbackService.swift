package import Foundation

/// What an app's services do with callbacks: make them, change them, try them, and look at how they fare.
package struct CallbackService: Sendable {
    /// For how long the secret before signs too.
    package static let secretOverlap = Duration.seconds(24 * 3600)

    let currentPolicy: @Sendable () -> CallbackPolicy
    let store: any CallbackStore
    let secrets: any CallbackSecrets
    let events: EventFeed
    let poster: CallbackPoster
    let audit: any AuditTrail
    let clock: ServiceClock
    let makeID: @Sendable (Date) -> String
    /// Told when what sends has something else to do.
    let changed: @Sendable (_ id: String?) -> Void

    /// Where callbacks may post, at present.
    package var policy: CallbackPolicy { currentPolicy() }

    /// A callback with how it fares.
    package struct Listing: Sendable {
        package let callback: Callback
        /// How many events wait to be sent again.
        package let waiting: Int
        /// Since when the first of them fails.
        package let failingSince: Date?
    }

    /// An app's callbacks, the oldest first.
    ///
    /// - Throws: `storeUnavailable`.
    package func list(app: App) async throws(ServiceError) -> [Listing] {
        var listings: [Listing] = []
        for callback in try await store.callbacks(app: app.slug) { listings.append(try await listing(callback)) }
        return listings
    }

    /// One of an app's callbacks.
    ///
    /// - Throws: `callbackNotFound`, `storeUnavailable`.
    package func get(app: App, id: String) async throws(ServiceError) -> Listing {
        try await listing(try await callback(app, id))
    }

    /// Makes a callback, which begins with whatever happens next.
    ///
    /// - Returns: the callback, and the secret that its receiver needs, which nobody can be told again; nil where nothing of ours
    ///   signs.
    /// - Throws: `callbackConflict` when there are too many, `keyUnavailable`, `auditUnavailable`, `storeUnavailable`.
    package func add(
        app: App, _ draft: CallbackDraft, by actor: Actor, caller: String
    ) async throws(ServiceError) -> (Listing, secret: String?) {
        let now = clock.now()
        var callback = Callback(
            id: makeID(now), app: app.slug, format: draft.format, url: draft.url, filter: draft.filter,
            description: draft.description, createdAt: now, createdBy: caller)
        var secret: (text: String, record: SealedSecretRecord)?
        if draft.format == .cloudevents {
            callback.secretNumber = 1
            secret = try secrets.make(Callback.secretName(callback.id, 1), at: now)
        }
        let act = act(
            .callbackAdded, callback, by: actor, ["host": callback.url.host, "format": callback.format.rawValue])
        try await audit.record(act)
        do throws(ServiceError) {
            guard let added = try await store.addCallback(callback, secret: secret?.record) else {
                throw ServiceError(
                    .callbackConflict,
                    "There are too many callbacks: an app may have \(Callback.maximumPerApp), all apps together \(Callback.maximumInAll); remove one that nobody needs."
                )
            }
            changed(added.id)
            return (try await listing(added), secret?.text)
        } catch {
            await audit.settle(act.failed(error))
            throw error
        }
    }

    /// Changes a callback; one that sends again goes on where it was.
    ///
    /// - Throws: `callbackNotFound`, `auditUnavailable`, `storeUnavailable`.
    package func change(
        app: App, id: String, _ change: CallbackChange, by actor: Actor
    ) async throws(ServiceError) -> Listing {
        let before = try await callback(app, id)
        var details = ["changed": change.names.joined(separator: ",")]
        details["host"] = change.url?.host
        details["state"] = change.state?.rawValue
        return try await recorded(act(.callbackChanged, before, by: actor, details)) { now throws(ServiceError) in
            try await store.changeCallback(app: app.slug, id: id) { change.apply(to: &$0, at: now) }
        }
    }

    /// Gives a callback another secret; the present one goes on signing beside it for a day.
    ///
    /// - Returns: the callback, and the secret, which nobody can be told again.
    /// - Throws: `callbackConflict` where nothing of ours signs, `callbackNotFound`, `keyUnavailable`, `auditUnavailable`,
    ///   `storeUnavailable`.
    package func rotateSecret(
        app: App, id: String, by actor: Actor
    ) async throws(ServiceError) -> (Listing, secret: String) {
        let before = try await callback(app, id)
        guard before.secretNumber > 0 else {
            throw ServiceError(
                .callbackConflict,
                "A callback of the format `apple` has no secret: what it posts carries Apple's own signature.")
        }
        let number = before.secretNumber + 1
        let secret = try secrets.make(Callback.secretName(id, number), at: clock.now())
        let listing = try await recorded(act(.callbackSecretRotated, before, by: actor)) { now throws(ServiceError) in
            try await store.rotateCallbackSecret(
                app: app.slug, id: id, secret: secret.record, number: number,
                previousUntil: now.advanced(by: Self.secretOverlap), at: now)
        }
        return (listing, secret.text)
    }

    /// Lets a callback, and one that is paused too, send again what happened behind a cursor or since a time.
    ///
    /// - Throws: `cursorExpired`, `invalidRequest` for a cursor that was never given out, `callbackNotFound`,
    ///   `auditUnavailable`, `storeUnavailable`.
    package func replay(
        app: App, id: String, from start: EventFeed.Start, by actor: Actor
    ) async throws(ServiceError) -> Listing {
        let before = try await callback(app, id)
        let cursor = try await events.cursor(of: start)
        return try await recorded(act(.callbackReplayed, before, by: actor, ["after": cursor.text])) {
            now throws(ServiceError) in
            try await store.replayCallback(app: app.slug, id: id, after: cursor.position, at: now)
        }
    }

    /// Removes a callback: nothing is sent to it any more.
    ///
    /// - Throws: `callbackNotFound`, `storeUnavailable`.
    package func remove(app: App, id: String, by actor: Actor) async throws(ServiceError) {
        let before = try await callback(app, id)
        guard try await store.removeCallback(app: app.slug, id: id) else { throw Self.notFound }
        changed(id)
        await audit.settle(act(.callbackRemoved, before, by: actor))
    }

    /// The latest attempts, the latest first.
    ///
    /// - Throws: `callbackNotFound`, `storeUnavailable`.
    package func attempts(app: App, id: String, limit: Int) async throws(ServiceError) -> [CallbackAttempt] {
        let callback = try await callback(app, id)
        return try await store.callbackAttempts(id: callback.id, limit: limit)
    }

    /// Posts a test at once, whatever the callback's state: an event that says nothing, or in the format `apple` the latest
    /// notification that the filter admits, once more.
    ///
    /// - Throws: `callbackConflict` when there is no notification to post, `callbackNotFound`, `keyUnavailable`,
    ///   `storeUnavailable`.
    package func test(app: App, id: String) async throws(ServiceError) -> CallbackAttempt {
        let callback = try await callback(app, id)
        guard callback.format == .apple else {
            return try await poster.postTest(callback, id: "test-\(makeID(clock.now()))")
        }
        guard let uuid = try await store.latestNotification(app: app.slug, callback.filter),
            let attempt = try await poster.postNotification(uuid, id: "test-\(uuid)", to: callback)
        else {
            throw ServiceError(
                .callbackConflict,
                "There is no notification to test with: ask Apple for one with POST /v1/apps/\(app.slug)/testNotifications."
            )
        }
        return attempt
    }

    // MARK: Parts

    private func callback(_ app: App, _ id: String) async throws(ServiceError) -> Callback {
        guard let callback = try await store.callback(app: app.slug, id: id) else { throw Self.notFound }
        return callback
    }

    private func listing(_ callback: Callback) async throws(ServiceError) -> Listing {
        let backlog = try await store.callbackBacklog(id: callback.id)
        return Listing(callback: callback, waiting: backlog.waiting, failingSince: backlog.failingSince)
    }

    /// Does what changes a callback once it is on record.
    private func recorded(
        _ act: AuditAct, _ work: (_ now: Date) async throws(ServiceError) -> Callback?
    ) async throws(ServiceError) -> Listing {
        try await audit.record(act)
        do throws(ServiceError) {
            guard let callback = try await work(clock.now()) else { throw Self.notFound }
            changed(callback.id)
            return try await listing(callback)
        } catch {
            await audit.settle(act.failed(error))
            throw error
        }
    }

    private func act(
        _ action: AuditAct.Action, _ callback: Callback, by actor: Actor, _ details: [String: String] = [:]
    ) -> AuditAct {
        AuditAct(action, by: actor, app: callback.app, details: details.merging(["callback": callback.id]) { $1 })
    }

    private static let notFound = ServiceError(
        .callbackNotFound, "The app has no callback with this id; GET …/callbacks lists them all.")
}
