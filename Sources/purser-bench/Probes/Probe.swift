import Foundation

/// A measuring loop that runs in a process of its own; the value is its plan.
///
/// So it has a core, a memory and a clock of processor time to itself.
protocol Probe: Codable, Sendable {
    associatedtype Outcome: Codable, Sendable

    /// What `purser-bench probe` calls it.
    static var name: String { get }

    /// Measures, in this process.
    func run() async throws -> Outcome
}

extension Probe {
    /// Runs the plan that came as JSON.
    ///
    /// - Returns: what was measured, as JSON.
    static func run(plan: String) async throws -> Data {
        let probe = try JSONDecoder().decode(Self.self, from: Data(plan.utf8))
        return try JSONEncoder().encode(try await probe.run())
    }
}
