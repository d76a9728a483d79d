import Foundation
import Systemd
import Testing

@Suite struct LogDestinationTests {
    private let (pipe, other): (TestPipe, TestPipe)

    init() throws {
        (pipe, other) = (try TestPipe(), try TestPipe())
    }

    private func detect(_ descriptor: Int32, journalStream: String? = nil) -> LogDestination.Format {
        let environment = journalStream.map { ["JOURNAL_STREAM": $0] } ?? [:]
        return LogDestination.detect(
            environment: environment, standardError: descriptor, identifier: "program", fieldPrefix: "TEST_"
        ).format
    }

    private func deviceAndInode(_ descriptor: Int32) -> String {
        var status = stat()
        fstat(descriptor, &status)
        return "\(status.st_dev):\(status.st_ino)"
    }

    @Test func theJournalIsUsedWhenStandardErrorLeadsThere() {
        #expect(detect(pipe.writingEnd, journalStream: deviceAndInode(pipe.writingEnd)) == .journal)
    }

    @Test func aStandardErrorThatWasRedirectedSinceIsNotTheJournal() {
        #expect(detect(pipe.writingEnd, journalStream: deviceAndInode(other.writingEnd)) == .jsonLines)
    }

    @Test(arguments: ["", "1", "a:b", "1:2:3", ":"])
    func aMalformedJournalStreamIsIgnored(_ stream: String) {
        #expect(detect(pipe.writingEnd, journalStream: stream) == .jsonLines)
    }

    @Test func aTerminalGetsLinesForPeople() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        #expect(detect(terminal) == .terminal)
    }

    @Test func aPipeGetsJSONLines() {
        #expect(detect(pipe.writingEnd) == .jsonLines)
    }
}
