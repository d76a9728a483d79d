/// Decides when to ask the parts for a heartbeat and when to tell the service manager that all is well.
///
/// It is fed a tick four times in each watchdog interval, and every answer. It asks everybody on every second tick;
/// who has not answered by the next one is late. No part is asked again before all have answered, so a part that
/// hangs has one unanswered question, never more.
struct WatchdogRounds {
    enum Action: Equatable {
        /// Ask every part for a heartbeat.
        case ask

        /// Everybody has just run.
        case allIsWell

        /// Everybody has just run, for the first time after a `late`.
        case recovered

        /// These parts, by their index, have not answered in time.
        case late([Int])
    }

    private let parts: Range<Int>
    private var ticksSinceAsked: Int?
    private var waitingFor: Set<Int> = []
    private var isLate = false
    private var reported: Set<Int> = []

    init(partCount: Int) {
        parts = 0..<partCount
    }

    mutating func tick() -> Action? {
        if waitingFor.isEmpty {
            let ticks = ticksSinceAsked.map { $0 + 1 }
            ticksSinceAsked = ticks
            guard ticks == nil || ticks == 2 else { return nil }
            return ask()
        }
        isLate = true
        guard !waitingFor.isSubset(of: reported) else { return nil }
        reported.formUnion(waitingFor)
        return .late(waitingFor.sorted())
    }

    mutating func answered(_ part: Int) -> Action? {
        waitingFor.remove(part)
        guard waitingFor.isEmpty else { return nil }
        // The answers that came in time are old by now: only a fresh round proves that all of them run.
        if isLate { return ask() }
        guard !reported.isEmpty else { return .allIsWell }
        reported = []
        return .recovered
    }

    private mutating func ask() -> Action {
        ticksSinceAsked = 0
        isLate = false
        waitingFor = Set(parts)
        return parts.isEmpty ? .allIsWell : .ask
    }
}
