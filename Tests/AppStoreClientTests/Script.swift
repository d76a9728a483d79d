import Synchronization
import TestSupport

/// Answers one after the other, the last for ever.
final class Script: Sendable {
    private let answers: Mutex<[LoopbackServer.Response]>

    init(_ answers: [LoopbackServer.Response]) { self.answers = Mutex(answers) }

    func next() -> LoopbackServer.Response {
        answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .init(status: 500) }
    }
}
