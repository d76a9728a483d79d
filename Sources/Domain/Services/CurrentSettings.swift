import Synchronization

/// What the configuration says to services at present: one value, which a reload swaps as a whole.
///
/// An operation reads it where it begins and ends with what it has read; the next one reads what is there then. Services keep
/// this, and no part of its value, wherever a reload may bring another.
package final class CurrentSettings: Sendable {
    private let settings: Mutex<Services.Settings>

    /// `settings`: those of the start.
    package init(_ settings: Services.Settings) { self.settings = Mutex(settings) }

    /// The settings as they are at this moment.
    package var value: Services.Settings { settings.withLock(\.self) }

    /// The apps as they are whenever somebody asks: whoever keeps this sees those of the next reload, too.
    package var apps: AppCatalog { AppCatalog(of: self) }

    /// Reads a part of the settings, which must be quick: every request does.
    ///
    /// Two readings may see two settings; whoever needs parts that go together reads ``value``.
    package func read<Value>(_ body: (Services.Settings) -> Value) -> Value { settings.withLock { body($0) } }

    /// Puts other settings in the place of those that there are; in force when this returns.
    func replace(with settings: Services.Settings) { self.settings.withLock { $0 = settings } }
}
