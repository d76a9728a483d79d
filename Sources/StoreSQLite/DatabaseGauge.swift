import Synchronization

/// Knows whether the writer is inside the database right now.
final class DatabaseGauge: Sendable {
    private let depth = Atomic<Int>(0)

    var isInsideDatabase: Bool { depth.load(ordering: .acquiring) > 0 }

    func inside<Value>(_ body: () throws -> Value) rethrows -> Value {
        depth.add(1, ordering: .acquiringAndReleasing)
        defer { depth.subtract(1, ordering: .acquiringAndReleasing) }
        return try body()
    }
}
