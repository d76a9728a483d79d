import Logging
import ServiceLifecycle
import Synchronization
import Systemd
import TestSupport

/// Stands in for the service manager: keeps what it is told until the test asks for it.
final class RecordingManager: Sendable {
    private let messages: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (messages, continuation) = AsyncStream.makeStream()
    }

    var notifier: Notifier {
        Notifier { message in
            self.receive(message)
            return true
        }
    }

    func receive(_ message: String) {
        continuation.yield(message)
    }

    func next() async -> String? {
        await messages.first { _ in true }
    }

    /// Everything that has not been asked for yet; nothing is recorded afterwards.
    func rest() async -> [String] {
        continuation.finish()
        return await messages.reduce(into: []) { $0.append($1) }
    }
}

/// A service that says when it was told to shut down, and ends when it may.
struct DrainingService: Service {
    let drainStarted: Gate
    let mayEnd: Gate

    func run() async throws {
        try await gracefulShutdown()
        drainStarted.open()
        await mayEnd.pass()
    }
}

/// Keeps log lines as `level: message [parts]`.
final class RecordingLog: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var line = "\(event.level): \(event.message)"
            if case .array(let parts) = event.metadata?["parts"] {
                line += " [\(parts.map(\.description).joined(separator: ", "))]"
            }
            log.recorded.withLock { $0.append(line) }
        }
    }
}
