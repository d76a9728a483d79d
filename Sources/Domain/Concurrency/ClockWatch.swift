import Foundation

/// Sees to it that a doubt about the time of day does not last: asks Apple something as long as there is one.
///
/// Any answer of Apple's ends a doubt; this is for when nobody asks Apple anything, because all that there is to ask waits for
/// the time. It asks by calls that change nothing, within the budgets, of one app and environment after the other, so that
/// neither a key that is no good, nor a budget that is used up, nor an outage of one environment stands in the way for good.
package struct ClockWatch: Sendable {
    /// No purchase has this id: Apple's answer is short, and nothing of a customer's is asked for.
    private static let absentTransaction = "0"
    /// The longest that one question may take.
    private static let patience = Duration.seconds(10)
    /// How often the clocks are compared while nobody else looks at them.
    static let interval = Duration.seconds(10)
    static let longestPause = Duration.seconds(60)

    private let steady: SteadyClock
    private let clock: ServiceClock
    private let gateway: any AppStoreGateway & TransactionGateway
    private let apps: AppCatalog
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - steady: what may be in doubt.
    ///   - clock: waits.
    ///   - gateway: Apple, whose answers decide on their way in.
    ///   - apps: on whose behalf Apple can be asked.
    ///   - changed: called when a doubt begins or ends.
    package init(
        _ steady: SteadyClock, clock: ServiceClock, gateway: any AppStoreGateway & TransactionGateway, apps: AppCatalog,
        changed: @escaping @Sendable () -> Void
    ) {
        self.steady = steady
        self.clock = clock
        self.gateway = gateway
        self.apps = apps
        self.changed = changed
    }

    /// Watches until the task is cancelled.
    package func run() async {
        let wake = WakeSignal()
        let changes = steady.changes.signals()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in changes {
                    changed()
                    wake.wake()
                }
            }
            var round = 0
            while !Task.isCancelled {
                if steady.isCertain {
                    round = 0
                } else {
                    await ask(round)
                    if !steady.isCertain { round += 1 }
                }
                await wake.wait(atMost: pause(round), by: clock)
            }
            group.cancelAll()
        }
    }

    private func pause(_ round: Int) -> Duration {
        round == 0 ? Self.interval : min(.milliseconds(500) * (1 << min(round, 10)), Self.longestPause)
    }

    /// Asks in both environments, of another app in each round, until the doubt is over.
    private func ask(_ round: Int) async {
        for environment in AppStoreEnvironment.allCases where !Task.isCancelled && !steady.isCertain {
            let candidates = apps.all.filter { $0.environments.contains(environment) }
            guard !candidates.isEmpty else { continue }
            let call = UpstreamCall(
                app: candidates[round % candidates.count], environment: environment,
                deadline: clock.monotonicNow() + Self.patience, caller: BudgetedCall.ownWork, priority: .deadlineBound)
            await ask(call, round / candidates.count)
        }
    }

    /// `turn`: each asks by another call, since budgets are kept for each.
    private func ask(_ call: UpstreamCall, _ turn: Int) async {
        // What comes back is an error in any case; what counts is the time that it was sent at.
        switch turn % 3 {
        case 0: _ = try? await gateway.transaction(Self.absentTransaction, call)
        case 1: _ = try? await gateway.appTransaction(Self.absentTransaction, call)
        default:
            _ = try? await gateway.historyPage(
                Self.absentTransaction, filter: HistoryFilter(), revision: nil, call)
        }
    }
}
