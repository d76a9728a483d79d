package import Dispatch
package import Foundation
package import Logging

/// Where the log of this process goes, and in which form.
package struct LogDestination: Sendable {
    /// The form of the log.
    package enum Format: Sendable, Equatable {
        /// Entries with fields, sent to the systemd journal.
        case journal

        /// Lines for people.
        case terminal

        /// One JSON object a line.
        case jsonLines
    }

    /// The form of the log.
    package let format: Format

    private let identifier: String
    private let fieldPrefix: String
    private let lines: LineWriter
    private let entries: JournalWriter
    private let queue: LogQueue
    private let now: @Sendable () -> Date

    /// Makes a destination of a given form.
    ///
    /// - Parameters:
    ///   - format: the form.
    ///   - standardError: the descriptor that lines are written to; it stays the caller's and must stay open.
    ///   - identifier: the journal's `SYSLOG_IDENTIFIER`, by custom the program's name.
    ///   - fieldPrefix: what the journal fields made from metadata begin with: capitals, then `_`.
    ///   - now: the wall clock for the time on each line.
    package init(
        format: Format,
        standardError: Int32,
        identifier: String,
        fieldPrefix: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.format = format
        self.identifier = identifier
        self.fieldPrefix = fieldPrefix
        self.now = now
        let (lines, entries) = (LineWriter(descriptor: standardError), JournalWriter())
        (self.lines, self.entries) = (lines, entries)
        let handler = Self.makeHandler(
            format, label: identifier, level: LogLevel(.warning), identifier, fieldPrefix, now, lines.write,
            entries.write)
        queue = LogQueue { count in
            // Not by a logger, whose entry would wait behind those that come meanwhile.
            handler.log(
                event: LogEvent(
                    level: .warning, message: "Log entries are missing: the log was not read as fast as it was written",
                    metadata: ["entries": .stringConvertible(count)], source: nil, file: #fileID, function: #function,
                    line: #line))
        }
    }

    /// Picks the form that fits what standard error is: the journal, a terminal, or anything else.
    ///
    /// - Parameters:
    ///   - environment: the environment of the process.
    ///   - standardError: the descriptor to look at and write to; it stays the caller's and must stay open.
    ///   - identifier: the journal's `SYSLOG_IDENTIFIER`, by custom the program's name.
    ///   - fieldPrefix: what the journal fields made from metadata begin with: capitals, then `_`.
    /// - Returns: the destination.
    package static func detect(
        environment: [String: String], standardError: Int32, identifier: String, fieldPrefix: String
    ) -> LogDestination {
        let format: Format =
            if isJournal(standardError, environment: environment) {
                .journal
            } else if isatty(standardError) == 1 {
                .terminal
            } else {
                .jsonLines
            }
        return LogDestination(
            format: format, standardError: standardError, identifier: identifier, fieldPrefix: fieldPrefix)
    }

    /// Makes the handler of one logger, for `LoggingSystem.bootstrap`; who logs never waits for the log to be read.
    ///
    /// `level`: the least severe that it logs, as it is at each entry.
    package func makeHandler(label: String, level: LogLevel = LogLevel(.info)) -> any LogHandler {
        Self.makeHandler(
            format, label: label, level: level, identifier, fieldPrefix, now,
            { [queue, lines] line in queue.add(bytes: line.count) { lines.write(line) } },
            { [queue, entries] entry in queue.add(bytes: entry.bytes.count) { entries.write(entry) } })
    }

    private static func makeHandler(
        _ format: Format, label: String, level: LogLevel, _ identifier: String, _ fieldPrefix: String,
        _ now: @escaping @Sendable () -> Date, _ writeLine: @escaping @Sendable ([UInt8]) -> Void,
        _ writeEntry: @escaping @Sendable (JournalEntry) -> Void
    ) -> any LogHandler {
        switch format {
        case .journal:
            JournalLogHandler(
                label: label, level: level, identifier: identifier, fieldPrefix: fieldPrefix, write: writeEntry)
        case .terminal: TerminalLogHandler(label: label, level: level, write: writeLine, now: now)
        case .jsonLines: JSONLinesLogHandler(label: label, level: level, write: writeLine, now: now)
        }
    }

    /// How many log entries were dropped or could not be written since the start.
    package var lostEntries: Int { lines.lostLines + entries.lostEntries + queue.droppedEntries }

    /// Waits until what was logged before is written, so that the process may end, but no longer than the limit.
    package func flush(within limit: DispatchTimeInterval = .seconds(1)) async { await queue.flush(within: limit) }

    /// `JOURNAL_STREAM` is inherited by programs whose standard error was since sent elsewhere, so what it names is
    /// compared with what the descriptor really is.
    ///
    /// Source: systemd.exec(5) `$JOURNAL_STREAM`
    private static func isJournal(_ descriptor: Int32, environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"] else { return false }
        let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
        var status = stat()
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]),
            fstat(descriptor, &status) == 0
        else { return false }
        return device == UInt64(status.st_dev) && inode == UInt64(status.st_ino)
    }
}
