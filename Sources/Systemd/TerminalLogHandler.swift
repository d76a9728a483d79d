import Foundation
import Logging

/// Writes each log event as one line for people: time of day (UTC), level, logger, message, metadata.
struct TerminalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    private let label: String
    private let writer: LineWriter
    private let now: @Sendable () -> Date

    init(label: String, level: Logger.Level, writer: LineWriter, now: @escaping @Sendable () -> Date) {
        self.label = label
        self.logLevel = level
        self.writer = writer
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var text = "\(event.level.rawValue.uppercased())  \(label)  \(LogText.visible(event.message.description))"
        for (key, value) in event.allMetadata(of: self) {
            text += "  \(LogText.visible(key))=\(LogText.visible(LogText.plain(value)))"
        }
        if logLevel <= .debug { text += "  (\(event.file):\(event.line))" }

        var line: [UInt8] = []
        LogText.appendTimeOfDay(now(), to: &line)
        line.append(UInt8(ascii: " "))
        LogText.append(text, to: &line, limit: LineWriter.maximumLineBytes - line.count - 1)
        line.append(UInt8(ascii: "\n"))
        writer.write(line)
    }
}
