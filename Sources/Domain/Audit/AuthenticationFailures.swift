import Synchronization

/// Tells the audit who failed to prove who they are: the first failures one by one, the rest of a flood by their number.
///
/// Keys: sources (``SourceNetwork``). Bound: `maximumSources`; those beyond are counted together.
package final class AuthenticationFailures: Sendable {
    /// Records of one source in a window; the rest is counted.
    static let recordedPerSource = 5
    /// Records of all sources together in a window.
    static let recordedPerWindow = 50
    /// Sources that are told apart in a window.
    static let maximumSources = 100
    /// From one telling to the next, in seconds.
    package static let window = Duration.seconds(60)
    private static let others = "others"

    private struct State {
        /// By source: failures, and how many of them have a record.
        var counts: [String: (all: Int, recorded: Int)] = [:]
        var recorded = 0
    }

    private let audit: any AuditTrail
    private let state = Mutex(State())

    init(audit: any AuditTrail) { self.audit = audit }

    /// Notes a failure; never waits.
    ///
    /// - Parameters:
    ///   - source: the address that it came from; nil for a Unix socket, or where nobody who is trusted tells.
    ///   - claim: what the credential claims to be, where it names something that could exist.
    package func note(from source: String?, claim: String?) {
        let source = source ?? "unknown"
        let network = SourceNetwork.name(of: source)
        let isRecorded = state.withLock { state in
            let key = state.counts[network] != nil || state.counts.count < Self.maximumSources ? network : Self.others
            let isRecorded =
                state.counts[key, default: (0, 0)].recorded < Self.recordedPerSource
                && state.recorded < Self.recordedPerWindow
            state.counts[key, default: (0, 0)].all += 1
            if isRecorded {
                state.counts[key, default: (0, 0)].recorded += 1
                state.recorded += 1
            }
            return isRecorded
        }
        guard isRecorded else { return }
        var details = ["source": source]
        details["claim"] = claim
        // Where there is no room for it, a failure to authenticate is refused all the same.
        try? audit.note(AuditAct(.authenticationFailed, by: .unauthenticated, details: details))
    }

    /// Records how many more there were, and begins to count anew: to be called once a ``window``, and at the end.
    package func tell() {
        let counts = state.withLock { state in
            defer { state = State() }
            return state.counts
        }
        for (source, count) in counts.sorted(by: { $0.key < $1.key }) where count.all > count.recorded {
            try? audit.note(
                AuditAct(
                    .authenticationFailuresCounted, by: .unauthenticated,
                    details: ["source": source, "count": String(count.all - count.recorded)]))
        }
    }
}

extension AuditAct.Action {
    /// Whether its records may be forgotten while the audit cannot be written: who fails to authenticate must not be able to
    /// use up the room that is kept for what counts.
    package var mayBeForgotten: Bool { self == .authenticationFailed || self == .authenticationFailuresCounted }
}
