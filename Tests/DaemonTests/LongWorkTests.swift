import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// Who waits at a terminal hears that a command is still at work; nobody else does.
struct LongWorkTests {
    private final class Lines: Sendable {
        let said = Mutex<[String]>([])
    }

    private func lines(isWatched: Bool) async -> [String] {
        let (lines, gate) = (Lines(), OneTime<Void>())
        let work = LongWork(
            isWatched: isWatched, tell: { line in lines.said.withLock { $0.append(line) } },
            pause: { _ in
                // The third pause ends with the work.
                guard lines.said.withLock({ $0.count }) < 2 else {
                    gate.give(())
                    throw CancellationError()
                }
            })
        let end = await work.telling("The daemon copies its store") {
            if isWatched { _ = try? await gate.value("the third pause") }
            return 7
        }
        #expect(end == 7)
        return lines.said.withLock(\.self)
    }

    @Test func `whoever looks on hears every five seconds that it goes on`() async {
        #expect(
            await lines(isWatched: true)
                == ["The daemon copies its store: 5 s so far", "The daemon copies its store: 10 s so far"])
    }

    @Test func `programs are told nothing`() async {
        #expect(await lines(isWatched: false).isEmpty)
    }
}
