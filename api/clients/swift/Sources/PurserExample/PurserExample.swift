import ArgumentParser
import Foundation

/// Calls Purser's gRPC API with stubs that the build makes of `api/purser/v1`.
@main
struct PurserExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call Purser by gRPC, with generated stubs.",
        discussion: """
            Exits with 65 when the request is to be mended, 77 when the credential is, and 75 when it is worth to come \
            back later; with 1 after every other failure.
            """,
        subcommands: [Answer.self, Watch.self, Health.self])
}

/// A line for whoever reads what this program has to say; it leaves at once, also into a pipe.
func tell(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// A line about a failure.
func complain(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}

extension AsyncParsableCommand {
    /// Does what a command does, and tells how a call failed, with what there is to do about it.
    func explained(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as Failure {
            complain(failure.description)
            throw failure.reaction.exitCode
        }
    }
}
