import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Systemd

@Suite(.endsHangs) struct LogQueueTests {
    /// What was written, in its order.
    private final class Written: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock(\.self) }
        @Sendable func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    private let written = Written()

    @Test func entriesAreWrittenInTheirOrder() async {
        let queue = LogQueue { _ in Issue.record("nothing is dropped") }
        let expected = (0..<1000).map(String.init)
        for entry in expected { queue.add(bytes: 4) { [written] in written.add(entry) } }
        await queue.flush(within: .seconds(Wait.seconds))
        #expect(written.all == expected && queue.droppedEntries == 0)
    }

    @Test func aLogThatNobodyReadsCostsItsEntriesAndNothingElse() async throws {
        let reading = DispatchSemaphore(value: 0)
        let queue = LogQueue(capacity: 10_000) { [written] in written.add("\($0) are missing") }
        queue.add(bytes: 0) { [written] in
            written.add("first")
            reading.wait()
        }
        try await Wait.until("the first to be on its way") { written.all == ["first"] }
        // None of these waits, though nothing is read; ten of them have room beside the first.
        for number in 0..<100 { queue.add(bytes: 800) { [written] in written.add("\(number)") } }
        #expect(queue.droppedEntries == 90)
        reading.signal()
        await queue.flush(within: .seconds(Wait.seconds))
        #expect(written.all == ["first"] + (0..<10).map(String.init) + ["90 are missing"])
        // All of the room is there again.
        for number in 100..<110 { queue.add(bytes: 800) { [written] in written.add("\(number)") } }
        await queue.flush(within: .seconds(Wait.seconds))
        #expect(written.all.count == 22 && queue.droppedEntries == 90)
    }

    @Test func theEndDoesNotWaitForAReaderForEver() async {
        let reading = DispatchSemaphore(value: 0)
        let queue = LogQueue { _ in }
        queue.add(bytes: 1) { reading.wait() }
        await queue.flush(within: .milliseconds(1))
        reading.signal()
    }

    @Test func thePipeThatWasFullSaysInItsOwnFormWhatIsMissing() async throws {
        let pipe = try TestPipe()
        let destination = LogDestination(
            format: .jsonLines, standardError: pipe.writingEnd, identifier: "program", fieldPrefix: "TEST_")
        let logger = Logger(label: "test.label") { destination.makeHandler(label: $0) }
        // More than the pipe and the queue hold: who logs does not wait all the same.
        let text = String(repeating: "x", count: 40_000)
        let count = 2 * LogQueue.capacity / text.utf8.count
        for _ in 0..<count { logger.info("\(text)") }
        #expect(destination.lostEntries > 0)
        let read = await Self.lines(of: pipe.readingEnd, until: "are missing")
        let last = try #require(read.last)
        let missing = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
        #expect(missing?["level"] as? String == "warning")
        #expect(missing?["entries"] as? Int == destination.lostEntries)
        #expect(read.count - 1 + destination.lostEntries == count)
    }

    /// Reads lines until one says something; on a thread of its own, as that blocks.
    private static func lines(of descriptor: Int32, until text: String) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var (lines, rest): ([String], [UInt8]) = ([], [])
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while lines.last?.contains(text) != true {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    rest += buffer.prefix(count)
                    let pieces = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    lines += pieces.dropLast().map { String(decoding: $0, as: UTF8.self) }
                    rest = Array(pieces.last ?? [])
                }
                continuation.resume(returning: lines)
            }
        }
    }
}
