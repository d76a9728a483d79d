import Foundation

/// Tells whoever waits at a terminal that a command is still at work, when it takes long.
///
/// Programs and logs are spared it: what a command says in the end is the same.
package struct LongWork: Sendable {
    /// From one line to the next.
    static let interval = Duration.seconds(5)

    /// Whether somebody looks on.
    let isWatched: Bool
    let tell: @Sendable (String) -> Void
    let pause: @Sendable (Duration) async throws -> Void

    init(
        isWatched: Bool, tell: @escaping @Sendable (String) -> Void,
        pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.isWatched, self.tell, self.pause) = (isWatched, tell, pause)
    }

    /// To the standard error, where that is a terminal.
    package static var atTerminal: LongWork {
        LongWork(
            isWatched: isatty(STDERR_FILENO) == 1,
            tell: { FileHandle.standardError.write(Data("\($0)\n".utf8)) },
            pause: { try await ContinuousClock().sleep(for: $0) })
    }

    /// Does some work, and says every five seconds that it goes on.
    ///
    /// - Parameters:
    ///   - what: what goes on, as the beginning of a sentence.
    ///   - work: what is done.
    /// - Returns: what comes of the work.
    package func telling<Result: Sendable>(
        _ what: String, _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        guard isWatched else { return await work() }
        return await withTaskGroup(of: Result?.self) { tasks in
            tasks.addTask { await work() }
            tasks.addTask {
                var elapsed = Duration.zero
                while (try? await pause(Self.interval)) != nil {
                    elapsed += Self.interval
                    tell("\(what): \(elapsed.components.seconds) s so far")
                }
                return nil
            }
            defer { tasks.cancelAll() }
            while let end = await tasks.next() {
                if let end { return end }
            }
            preconditionFailure("the work is one of the tasks")
        }
    }
}
