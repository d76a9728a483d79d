import ArgumentParser
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

/// The command `purser-bench probe`, by which the bench runs its own measuring loops.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Run one measuring loop; used by `run`.", shouldDisplay: false)

    private static let probes: [any Probe.Type] = [
        VerificationProbe.self, UpstreamProbe.self, TokenMintProbe.self, CommitProbe.self, LoadProbe.self,
        FillProbe.self,
        ReceiptProbe.self, GRPCLoadProbe.self,
    ]

    @Argument(help: "The name of the loop.")
    var name: String

    @Argument(help: "Its plan, as JSON.")
    var plan: String

    func run() async throws {
        guard let probe = Self.probes.first(where: { $0.name == name }) else {
            throw ValidationError("There is no loop \(name).")
        }
        try FileHandle.standardOutput.write(contentsOf: try await probe.run(plan: plan))
    }
}
