import Logging

/// Sends log events to the systemd journal, with a field for each piece of metadata.
///
/// Source: systemd.journal-fields(7)
struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    private let label: String
    private let identifier: String
    private let fieldPrefix: String
    private let writer: JournalWriter

    init(label: String, level: Logger.Level, identifier: String, fieldPrefix: String, writer: JournalWriter) {
        self.label = label
        self.logLevel = level
        self.identifier = identifier
        self.fieldPrefix = fieldPrefix
        self.writer = writer
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        writer.write(entry(for: event))
    }

    func entry(for event: LogEvent) -> JournalEntry {
        var entry = JournalEntry()
        entry.append("MESSAGE", event.message.description)
        entry.append("PRIORITY", event.level.syslogPriority)
        entry.append("SYSLOG_IDENTIFIER", identifier)
        entry.append("CODE_FILE", event.file)
        entry.append("CODE_LINE", String(event.line))
        entry.append("CODE_FUNC", event.function)
        entry.append("\(fieldPrefix)LOGGER", label)
        for (key, value) in event.allMetadata(of: self) {
            entry.append(JournalEntry.name(key, prefix: fieldPrefix), LogText.plain(value))
        }
        return entry
    }
}

extension Logger.Level {
    /// The level's number in syslog(3).
    fileprivate var syslogPriority: String {
        switch self {
        case .trace, .debug: "7"
        case .info: "6"
        case .notice: "5"
        case .warning: "4"
        case .error: "3"
        case .critical: "2"
        }
    }
}
