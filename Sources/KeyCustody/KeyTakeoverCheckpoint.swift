package import Domain
import Foundation
package import Logging
package import Metrics

/// Keeps which standby keys sign in the place of refused ones, so that a restart does not forget it.
///
/// A crash forgets what happened since the last time: Apple refuses the old key again then, and the standby takes over again.
package actor KeyTakeoverCheckpoint {
    private let keys: KeyRing
    private let store: any KeyTakeoverStore
    private let gauge: Gauge
    private let logger: Logger
    /// What the store has; nil before it was asked.
    private var saved: [KeyTakeover]?
    private var hasFailed = false

    package init(keys: KeyRing, store: any KeyTakeoverStore, metrics: any MetricsFactory, logger: Logger) {
        self.keys = keys
        self.store = store
        self.logger = logger
        gauge = Gauge(label: "purser_key_takeovers", dimensions: [], factory: metrics)
    }

    /// Takes up what an earlier run has kept, as far as the configuration still has those keys in those roles.
    ///
    /// - Throws: `storeUnavailable`.
    package func resume() async throws(ServiceError) {
        let kept = try await store.keyTakeovers()
        saved = kept
        let resumed = keys.resume(kept)
        gauge.record(resumed.count)
        for takeover in resumed {
            logger.warning(
                "A standby key still signs in the place of one that Apple has refused; make it `active` in the configuration",
                metadata: [
                    "app": "\(takeover.app)", "key_id": "\(takeover.keyID)",
                    "refused_key_id": "\(takeover.refusedKeyID)", "since": "\(takeover.at.formatted(.iso8601))",
                ])
        }
    }

    /// Keeps what has changed since the last time that this succeeded; a failure is logged when it begins.
    package func save() async {
        let takeovers = keys.takeovers
        guard takeovers != saved else { return }
        do throws(ServiceError) {
            try await store.replaceKeyTakeovers(takeovers)
            saved = takeovers
            hasFailed = false
            gauge.record(takeovers.count)
        } catch {
            if !hasFailed {
                logger.error(
                    "Which standby keys have taken over could not be kept",
                    metadata: ["cause": "\(error.cause ?? error.message)"])
            }
            hasFailed = true
        }
    }
}
