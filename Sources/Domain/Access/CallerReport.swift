import Foundation

/// Which callers need a look: those whose last token is about to end, those that nobody uses, those that are of no use.
package struct CallerReport: Sendable {
    /// What a look finds; names in ascending order.
    package struct Findings: Sendable, Equatable {
        /// How many callers there are, by where they are declared.
        package var counts: [CallerListing.Source: Int] = [:]
        /// Callers that will have no usable token left within the time of warning, and had one until now.
        package var expiring: [String] = []
        /// Callers that were added, but have not been used for longer than they should.
        package var unused: [String] = []
        /// Names that both the store and the configuration have, and keys of callers that are gone.
        package var orphaned: [String] = []
    }

    private let registry: CallerRegistry
    private let apps: AppCatalog
    private let policy: @Sendable () -> CallerPolicy
    private let now: WallClock

    init(
        registry: CallerRegistry, apps: AppCatalog, policy: @escaping @Sendable () -> CallerPolicy,
        now: @escaping WallClock
    ) {
        self.registry = registry
        self.apps = apps
        self.policy = policy
        self.now = now
    }

    /// Looks at every caller.
    package func look() -> Findings {
        let (now, policy) = (now(), policy())
        var findings = Findings()
        for source in CallerListing.Source.allCases { findings.counts[source] = 0 }
        for caller in registry.listings(apps: apps) {
            findings.counts[caller.source, default: 0] += 1
            if isExpiring(caller, policy, at: now) { findings.expiring.append(caller.name) }
            if isUnused(caller, policy, at: now) { findings.unused.append(caller.name) }
            if caller.isShadowed || caller.keys.contains(where: { $0.state == .orphaned })
                || caller.bindings.contains(where: { $0.state == .orphaned })
            {
                findings.orphaned.append(caller.name)
            }
        }
        return findings
    }

    /// Whether the token that lasts longest ends soon: one that a newer one replaces ends as it should.
    private func isExpiring(_ caller: CallerListing, _ policy: CallerPolicy, at now: Date) -> Bool {
        let active = caller.tokens.filter { $0.state == .active }
        guard !active.isEmpty else { return false }
        let end = now.advanced(by: policy.expiryWarning)
        return active.allSatisfy { $0.expiresAt.map { $0 <= end } ?? false }
    }

    /// Nobody can tell since when a caller of the configuration is there, so that it has to have been used once.
    private func isUnused(_ caller: CallerListing, _ policy: CallerPolicy, at now: Date) -> Bool {
        guard !caller.isShadowed, caller.source != .none, let since = caller.lastUsedAt ?? caller.createdAt else {
            return false
        }
        return now >= since.advanced(by: policy.unusedWarning)
    }
}
