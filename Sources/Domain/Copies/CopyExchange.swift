import Foundation

/// Acts upon what other copies of the daemon have done, as soon as that is told, and looks for itself now and then, in case that it
/// was not.
///
/// What this copy does itself its services know without a way through the store.
package struct CopyExchange: Sendable {
    /// How often it looks for attempts of this copy that are to end, and for ends that somebody here waits for.
    static let poll = Duration.seconds(2)
    /// How often everything else is looked for.
    static let slowPoll = Duration.seconds(5)
    /// How long another copy's new deliveries are left to that copy, which knows of them already.
    static let courtesy = Duration.milliseconds(150)

    let id: String
    let copies: any CopyStore
    let claims: any DeliveryClaimStore
    let transfers: InFlightDeliveries
    let waiters: DeliveryWaiters
    /// Looks for deliveries to send.
    let kickDispatcher: @Sendable () -> Void
    /// Looks for notifications to apply.
    let kickProcessor: @Sendable () -> Void
    /// Looks at a callback; nil: at all of them.
    let callbacksChanged: @Sendable (String?) -> Void
    /// Looks which callbacks there are.
    let lookForCallbacks: @Sendable () -> Void
    /// Told now and then that there may be events.
    let changes: ChangeSignal
    let clock: ServiceClock

    /// Listens and looks until the task is cancelled; of use where the store is shared alone.
    package func run() async {
        await withDiscardingTaskGroup { group in
            let courtesy = WakeSignal()
            group.addTask { await listen(courtesy) }
            group.addTask {
                while (try? await clock.sleep(Self.poll)) != nil {
                    await endAttempts()
                    await tellWaiters()
                }
            }
            group.addTask {
                while (try? await clock.sleep(Self.slowPoll)) != nil { lookAtAll() }
            }
            group.addTask {
                while !Task.isCancelled {
                    await courtesy.wait(atMost: nil, by: clock)
                    guard (try? await clock.sleep(Self.courtesy)) != nil else { return }
                    kickDispatcher()
                }
            }
        }
    }

    private func listen(_ courtesy: WakeSignal) async {
        for await news in copies.news() {
            switch news {
            case .deliveryQueued: courtesy.wake()
            case .endAskedFor(let id): await transfers.beginAborting(ids: [id])
            case .deliveryEnded(let id): await tellWaiters(of: [id])
            case .notificationRecorded: kickProcessor()
            case .callbackChanged(let id): callbacksChanged(id)
            case .holdChanged:
                kickDispatcher()
                callbacksChanged(nil)
            case .unknown:
                lookAtAll()
                await endAttempts()
                await tellWaiters()
            }
        }
    }

    private func lookAtAll() {
        kickDispatcher()
        kickProcessor()
        lookForCallbacks()
        changes.send()
    }

    /// Ends the attempts of this copy that may not go on.
    private func endAttempts() async {
        // Those that are claimed from here on ask the gate later than this asks the store.
        let ids = transfers.ids
        guard !ids.isEmpty, let ended = try? await claims.claimsToEnd(of: id, among: ids) else { return }
        await transfers.beginAborting(ids: ended)
    }

    /// Tells those who wait for deliveries that have ended.
    private func tellWaiters(of named: Set<String>? = nil) async {
        let ids = named.map(waiters.watched.intersection) ?? waiters.watched
        guard !ids.isEmpty, let ended = try? await claims.endedDeliveries(among: ids) else { return }
        ended.forEach(waiters.post)
    }
}
