import CSystemd
import Glibc
import Logging
import Synchronization

/// Sends log events to the systemd journal: a text for people, metadata included, and a field for each piece of metadata.
///
/// `journalctl` shows the text alone, and what a line is about is in the metadata. The bare message, by which programs
/// find all lines of one kind, is in the field `…EVENT`.
///
/// Source: systemd.journal-fields(7)
struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level {
        get { level.value }
        set { level.value = newValue }
    }

    private var level: LoggerLevel
    private let label: String
    private let identifier: String
    private let fieldPrefix: String
    private let write: @Sendable (JournalEntry) -> Void

    init(
        label: String, level: LogLevel, identifier: String, fieldPrefix: String,
        write: @escaping @Sendable (JournalEntry) -> Void
    ) {
        self.label = label
        self.level = LoggerLevel(level)
        self.identifier = identifier
        self.fieldPrefix = fieldPrefix
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        write(entry(for: event))
    }

    func entry(for event: LogEvent) -> JournalEntry {
        var entry = JournalEntry()
        let (message, metadata) = (event.message.description, event.allMetadata(of: self))
        entry.append("MESSAGE", LogText.line(message, metadata))
        entry.append("PRIORITY", event.level.syslogPriority)
        entry.append("SYSLOG_IDENTIFIER", identifier)
        entry.append("CODE_FILE", event.file)
        entry.append("CODE_LINE", String(event.line))
        entry.append("CODE_FUNC", event.function)
        entry.append("\(fieldPrefix)LOGGER", label)
        entry.append("\(fieldPrefix)EVENT", message)
        for (key, value) in metadata {
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

/// The fields of one journal entry, as `NAME=value` in one run of bytes.
struct JournalEntry {
    /// The most fields of an entry; the rest is left out.
    static let maximumFields = 64

    /// The longest name of a field that journald takes.
    static let maximumNameBytes = 64

    private(set) var bytes: [UInt8] = []

    /// Where each field ends in ``bytes``.
    private(set) var ends: [Int] = []

    /// Adds a field, its value cut at the limit of a line.
    mutating func append(_ name: String, _ value: String) {
        guard ends.count < Self.maximumFields else { return }
        bytes += name.utf8
        bytes.append(UInt8(ascii: "="))
        LogText.append(value, to: &bytes, limit: LineWriter.maximumLineBytes)
        ends.append(bytes.count)
    }

    /// Makes a name that journald takes from any text: capitals, digits and `_`, after a prefix.
    ///
    /// Source: systemd.journal-fields(7), sd_journal_sendv(3)
    static func name(_ text: String, prefix: String) -> String {
        var name = prefix
        for byte in text.utf8.prefix(max(0, maximumNameBytes - prefix.utf8.count)) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): name.unicodeScalars.append(Unicode.Scalar(byte - 32))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name.append("_")
            }
        }
        return name
    }
}

/// Sends entries to the systemd journal.
final class JournalWriter: Sendable {
    private let lost = Atomic<Int>(0)

    /// How many entries the journal did not take.
    var lostEntries: Int { lost.load(ordering: .relaxed) }

    /// Sends one entry.
    ///
    /// Source: sd_journal_sendv(3)
    func write(_ entry: JournalEntry) {
        let result = entry.bytes.withUnsafeBytes { bytes in
            var start = 0
            let fields = entry.ends.map { end in
                defer { start = end }
                // The C type has no const; libsystemd only reads.
                let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return iovec(iov_base: base.map { $0 + start }, iov_len: end - start)
            }
            return sd_journal_sendv(fields, Int32(fields.count))
        }
        if result < 0 { lost.add(1, ordering: .relaxed) }
    }
}
