package import Logging
import Synchronization

/// Keeps what is logged.
package final class RecordedLog: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel = Logger.Level.trace

        func log(event: LogEvent) {
            let metadata = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
            log.kept.withLock { lines in
                lines.append(
                    Line(
                        level: event.level, message: event.message.description,
                        metadata: metadata.mapValues(\.description)))
            }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }

    private let kept = Mutex<[Line]>([])

    package init() {}

    package var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self) } }

    /// Everything that was logged, in order.
    package var lines: [Line] { kept.withLock(\.self) }

    /// The lines whose message contains a text.
    package func lines(_ text: String) -> [Line] { lines.filter { $0.message.contains(text) } }
}
