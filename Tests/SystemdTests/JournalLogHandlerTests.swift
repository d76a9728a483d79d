import Logging
import Testing

@testable import Systemd

@Suite struct JournalLogHandlerTests {
    private let writer = JournalWriter()

    private func handler() -> JournalLogHandler {
        JournalLogHandler(
            label: "test.label", level: LogLevel(.info), identifier: "program", fieldPrefix: "TEST_",
            write: writer.write)
    }

    private func event(_ message: String = "Hello", metadata: Logger.Metadata = [:]) -> LogEvent {
        LogEvent(
            level: .error, message: "\(message)", metadata: metadata, source: nil, file: "Module/File.swift",
            function: "run()", line: 42)
    }

    private func fields(_ entry: JournalEntry) -> [String] {
        zip([0] + entry.ends, entry.ends).map { String(decoding: entry.bytes[$0..<$1], as: UTF8.self) }
    }

    @Test func anEntryHasTheJournalsFieldsAndOurs() {
        let entry = handler().entry(
            for: event("two\nlines", metadata: ["requestId": "r-1", "http.status": "404", "apps": ["a", "b"]]))
        #expect(
            fields(entry) == [
                #"MESSAGE=two\nlines  apps=["a","b"]  http.status=404  requestId=r-1"#, "PRIORITY=3",
                "SYSLOG_IDENTIFIER=program", "CODE_FILE=Module/File.swift",
                "CODE_LINE=42", "CODE_FUNC=run()", "TEST_LOGGER=test.label", "TEST_EVENT=two\nlines",
                #"TEST_APPS=["a","b"]"#,
                "TEST_HTTP_STATUS=404", "TEST_REQUESTID=r-1",
            ])
    }

    @Test(arguments: [
        ("key", "TEST_KEY"), ("a-b=c\n", "TEST_A_B_C_"), ("9", "TEST_9"), ("\u{e9}", "TEST___"), ("", "TEST_"),
        (String(repeating: "k", count: 100), "TEST_" + String(repeating: "K", count: 59)),
    ])
    func namesObeyTheJournalsRules(_ key: String, _ name: String) {
        #expect(JournalEntry.name(key, prefix: "TEST_") == name)
    }

    @Test func aValueIsCutAtTheLimitOfALine() {
        let message = fields(handler().entry(for: event(String(repeating: "m", count: 60_000))))[0]
        #expect(message.utf8.count == "MESSAGE=".utf8.count + 48 * 1024)
        #expect(message.hasSuffix("m...[truncated]"))
    }

    @Test func theNumberOfFieldsIsBounded() {
        let metadata = Logger.Metadata(uniqueKeysWithValues: (0..<1000).map { ("key\($0)", "value") })
        #expect(handler().entry(for: event(metadata: metadata)).ends.count == 64)
    }

    /// libsystemd sends to the journal of this machine, or silently nowhere when there is none.
    @Test func libsystemdTakesTheEntry() {
        handler().log(event: event(metadata: ["purpose": "unit test"]))
        #expect(writer.lostEntries == 0)
    }

    @Test func aRefusedEntryIsCounted() {
        // libsystemd wants `=` after the name of each field.
        writer.write(JournalEntry())
        #expect(writer.lostEntries == 1)
    }
}
