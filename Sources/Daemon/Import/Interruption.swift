import Foundation
import Synchronization
import UnixSignals

/// Whether the operator has asked a long command to end, with Ctrl-C or SIGTERM.
///
/// It ends where it can be gone on with. Asked twice, the process ends at once.
package final class Interruption: Sendable {
    /// As shells tell it.
    private static let exitStatus = CommandOutcome.Status.interrupted.rawValue

    private let wasAsked = Atomic(false)

    private init() {}

    package var isAsked: Bool { wasAsked.load(ordering: .relaxed) }

    /// Runs a command that heeds an interruption.
    package static func watching<Value: Sendable>(
        _ command: @Sendable (Interruption) async -> Value
    ) async -> Value {
        let interruption = Interruption()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watch = Task {
            for await _ in signals where interruption.wasAsked.exchange(true, ordering: .relaxed) {
                _exit(exitStatus)
            }
        }
        defer { watch.cancel() }
        return await command(interruption)
    }
}
