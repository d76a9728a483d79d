package import CoreMetrics
import Synchronization

/// Counters of one label, found again by what is counted without making a text.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | counters | what is counted | the process | `maximumCounters`, then all go and are asked for again |
///
/// Asking a metrics system for a counter costs a hundred times what counting does; so each is asked for once. Letting go of
/// one loses no count: the system keeps that.
package final class CounterSet<Key: Hashable & Sendable>: Sendable {
    private let label: String
    private let factory: any MetricsFactory
    private let maximumCounters: Int
    private let dimensions: @Sendable (Key) -> [(String, String)]
    private let counters = Mutex<[Key: any CounterHandler]>([:])

    /// - Parameters:
    ///   - label: the name of the metric.
    ///   - factory: makes the counters.
    ///   - maximumCounters: how many are kept; each takes about a hundred bytes.
    ///   - dimensions: names and values for what is counted.
    package init(
        _ label: String, factory: any MetricsFactory, maximumCounters: Int = 1 << 16,
        dimensions: @escaping @Sendable (Key) -> [(String, String)]
    ) {
        self.label = label
        self.factory = factory
        self.maximumCounters = maximumCounters
        self.dimensions = dimensions
    }

    package func increment(_ key: Key) {
        let counter = counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = factory.makeCounter(label: label, dimensions: dimensions(key))
            if counters.count >= maximumCounters { counters.removeAll(keepingCapacity: true) }
            counters[key] = counter
            return counter
        }
        counter.increment(by: 1)
    }
}
