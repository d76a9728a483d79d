import ArgumentParser
import Foundation

/// The command `purser-bench probe`, by which the bench runs its own measuring loops.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Run one measuring loop; used by `run`.", shouldDisplay: false)

    private static let probes: [any Probe.Type] = [
        VerificationProbe.self, UpstreamProbe.self, TokenProbe.self, SyncProbe.self, LoadProbe.self, FillProbe.self,
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
