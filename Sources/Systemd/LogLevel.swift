package import Logging
import Synchronization

/// The least severe level that is logged, which can be changed while the process runs: every logger of it asks.
package final class LogLevel: Sendable {
    private let number: Atomic<Int>

    package init(_ level: Logger.Level) { number = Atomic(Self.number(of: level)) }

    /// The level at this moment.
    package var value: Logger.Level { Logger.Level.allCases[number.load(ordering: .relaxed)] }

    /// Logs from this level on; in force with the next entry.
    package func set(_ level: Logger.Level) { number.store(Self.number(of: level), ordering: .relaxed) }

    private static func number(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

/// The level of one logger: the common one, unless the logger was given its own.
struct LoggerLevel: Sendable {
    private let common: LogLevel
    private var own: Logger.Level?

    init(_ common: LogLevel) { self.common = common }

    var value: Logger.Level {
        get { own ?? common.value }
        set { own = newValue }
    }
}
