package import Testing

/// How tests wait for what is sure to come: for the thing itself, however long a busy machine takes.
///
/// Nothing that a test finds out depends on ``limit``. It is there to end a hang with an error that says what was waited
/// for, and to stand for every deadline and timeout that a test does not want to see pass.
package enum Wait {
    private static let minutes = 10
    /// After so many looks the processor is left to what is waited for.
    private static let hastyLooks = 100

    /// The most that anything is waited for.
    package static let limit = Duration.seconds(seconds)

    /// ``limit`` for what counts in whole seconds: a header, a configuration file, a socket option.
    package static let seconds = 60 * minutes

    /// Waits until something is so that nobody announces, giving way to others between one look and the next.
    ///
    /// - Parameters:
    ///   - what: what is waited for, as in "in vain for `what`".
    ///   - isSo: looks.
    /// - Throws: ``WaitedInVain``, or what looking throws.
    package static func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        try await value(what) { try await isSo() ? () : nil }
    }

    /// Waits for a value that nobody announces, giving way to others between one look and the next.
    ///
    /// - Parameters:
    ///   - what: what is waited for, as in "in vain for `what`".
    ///   - look: the value, nil as long as there is none.
    /// - Returns: the first value that is there.
    /// - Throws: ``WaitedInVain``, or what looking throws.
    package static func value<Value>(_ what: String, _ look: () async throws -> Value?) async throws -> Value {
        let end = ContinuousClock.now + limit
        var looks = 0
        while true {
            if let value = try await look() { return value }
            guard ContinuousClock.now < end, !Task.isCancelled else { throw WaitedInVain(what: what) }
            looks += 1
            if looks < hastyLooks { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// Waits for something that announces itself.
    ///
    /// - Parameters:
    ///   - what: what is waited for, as in "in vain for `what`".
    ///   - work: waits, and ends soon when its task is cancelled.
    /// - Returns: what the work returns.
    /// - Throws: ``WaitedInVain``, or what the work throws.
    package static func bounding<Value: Sendable>(
        _ what: String, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil, !Task.isCancelled else { throw WaitedInVain(what: what) }
            return value
        }
    }

    /// Waits for something that announces itself, where nothing can be thrown: in vain, it is an issue of the test.
    static func reporting(
        _ what: String, _ sourceLocation: SourceLocation, _ work: @escaping @Sendable () async -> Void
    ) async {
        do {
            try await bounding(what, work)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }
}

/// What a test waited for did not come within ``Wait/limit``, or before the test was cancelled.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { "waited in vain for \(what)" }
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs where it has no ``Wait`` of its own.
    ///
    /// Longer than any wait, whose error says more.
    package static var endsHangs: Self { .timeLimit(.minutes(2 * Wait.seconds / 60)) }
}
