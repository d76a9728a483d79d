package import Domain
package import Foundation
import Synchronization

/// Remembers what is posted, and answers as it is told: 200 unless it was told otherwise.
package final class FakeCallbackTransport: CallbackTransport {
    private struct State {
        var messages: [CallbackMessage] = []
        var answer: @Sendable (CallbackMessage) -> CallbackAnswer = { _ in .status(200) }
    }

    private let state = Mutex(State())
    /// Where each message waits before it is answered.
    package let gate = Gate()

    package init() {}

    /// What was posted so far, in order.
    package var messages: [CallbackMessage] { state.withLock(\.messages) }

    /// What was posted to a path so far, as text.
    package func bodies(of host: String) -> [String] {
        messages.filter { $0.url.host == host }.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// From now on answers so.
    package func answer(_ answer: @escaping @Sendable (CallbackMessage) -> CallbackAnswer) {
        state.withLock { $0.answer = answer }
    }

    package func post(_ message: CallbackMessage) async -> CallbackAnswer {
        let answer = state.withLock { state in
            state.messages.append(message)
            return state.answer
        }
        await gate.pass()
        return Task.isCancelled ? .cancelled : answer(message)
    }
}

/// Secrets that are their own names, and signatures that name them.
package struct PlainCallbackSecrets: CallbackSecrets {
    package init() {}

    package func make(
        _ name: String, at now: Date
    ) throws(ServiceError) -> (text: String, record: SealedSecretRecord) {
        let record = SealedSecretRecord(
            kind: .callback, name: name, sealed: Array(name.utf8), masterKeyID: "one", createdAt: now)
        return ("whsec_\(name)", record)
    }

    package func signature(
        of body: [UInt8], id: String, timestamp: Int64, with secrets: [SealedSecretRecord]
    ) throws(ServiceError) -> String {
        secrets.map { "v1,\($0.name)" }.joined(separator: " ")
    }
}

/// Texts that a test can read: kind and subject of an event, the signed text of a notification.
package struct PlainCallbackEncoder: CallbackEncoder {
    package init() {}

    package func event(_ event: ServiceEvent, id: EventCursor) -> [UInt8] {
        Array("\(event.kind.rawValue) \(event.transactionID ?? event.subject)".utf8)
    }

    package func test(app: String, id: String, at now: Date) -> [UInt8] { Array("test \(app)".utf8) }
    package func notification(_ signed: String) -> [UInt8] { Array(signed.utf8) }
}
