import Foundation
import Logging

/// Writes each log event as one JSON object on one line.
///
/// Members: `time` (RFC 3339, UTC, milliseconds), `level`, `logger`, `message`, then the metadata in the order of its
/// keys, then `location` (`file:line`) when the level is `debug` or `trace`. Metadata named like one of ours gets a
/// `_` appended; `"truncated":true` closes a line from which something was cut.
struct JSONLinesLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level {
        get { level.value }
        set { level.value = newValue }
    }

    private var level: LoggerLevel
    private let label: String
    private let write: @Sendable ([UInt8]) -> Void
    private let now: @Sendable () -> Date

    private static let ourMembers: Set<String> = ["time", "level", "logger", "message", "location", "truncated"]

    /// Room kept for the members after the metadata.
    private static let reservedBytes = 512

    init(
        label: String, level: LogLevel, write: @escaping @Sendable ([UInt8]) -> Void,
        now: @escaping @Sendable () -> Date
    ) {
        self.label = label
        self.level = LoggerLevel(level)
        self.write = write
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        write(line(for: event))
    }

    private func line(for event: LogEvent) -> [UInt8] {
        var line: [UInt8] = Array(#"{"time":""#.utf8)
        LogText.appendTime(now(), to: &line)
        line += #"","level":"\#(event.level)","logger":"#.utf8
        LogText.appendJSON(label, to: &line, limit: Self.reservedBytes)
        line += #","message":"#.utf8
        let budget = LineWriter.maximumLineBytes - Self.reservedBytes
        var isWhole = LogText.appendJSON(event.message.description, to: &line, limit: budget / 2)
        for (key, value) in event.allMetadata(of: self) {
            var member: [UInt8] = [UInt8(ascii: ",")]
            LogText.appendJSON(Self.ourMembers.contains(key) ? "\(key)_" : key, to: &member, limit: budget)
            member.append(UInt8(ascii: ":"))
            LogText.appendJSON(value, to: &member)
            if line.count + member.count > budget {
                isWhole = false
            } else {
                line += member
            }
        }
        if logLevel <= .debug {
            line += #","location":"#.utf8
            LogText.appendJSON("\(event.file):\(event.line)", to: &line, limit: Self.reservedBytes / 2)
        }
        if !isWhole { line += #","truncated":true"#.utf8 }
        line += "}\n".utf8
        return line
    }
}

/// Writes each log event as one line for people: time of day (UTC), level, logger, message, metadata.
struct TerminalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level {
        get { level.value }
        set { level.value = newValue }
    }

    private var level: LoggerLevel
    private let label: String
    private let write: @Sendable ([UInt8]) -> Void
    private let now: @Sendable () -> Date

    init(
        label: String, level: LogLevel, write: @escaping @Sendable ([UInt8]) -> Void,
        now: @escaping @Sendable () -> Date
    ) {
        self.label = label
        self.level = LoggerLevel(level)
        self.write = write
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let about = LogText.line(event.message.description, event.allMetadata(of: self))
        var text = "\(event.level.rawValue.uppercased())  \(label)  \(about)"
        if logLevel <= .debug { text += "  (\(event.file):\(event.line))" }

        var line: [UInt8] = []
        LogText.appendTimeOfDay(now(), to: &line)
        line.append(UInt8(ascii: " "))
        LogText.append(text, to: &line, limit: LineWriter.maximumLineBytes - line.count - 1)
        line.append(UInt8(ascii: "\n"))
        write(line)
    }
}
