import Foundation
import TestSupport
import Testing

@testable import Systemd

@Suite(.endsHangs) struct LineWriterTests {
    @Test func linesOfManyTasksStayWhole() async throws {
        let pipe = try TestPipe()
        let writer = LineWriter(descriptor: pipe.writingEnd)
        let expected = (0..<40).map { "\($0) " + String(repeating: "x", count: 1000) }
        await withTaskGroup { group in
            for line in expected {
                group.addTask { writer.write(Array("\(line)\n".utf8)) }
            }
        }
        #expect(Set(pipe.lines()) == Set(expected))
        #expect(writer.lostLines == 0)
    }

    @Test func aFullPipeIsWaitedFor() async throws {
        let pipe = try TestPipe()
        #expect(fcntl(pipe.writingEnd, F_SETFL, O_NONBLOCK) == 0)
        let writer = LineWriter(descriptor: pipe.writingEnd, fullPipeTimeoutMilliseconds: CInt(Wait.seconds * 1000))
        // More than a pipe holds: the writer must come back for the rest.
        let line = Array((String(repeating: "y", count: 200_000) + "\n").utf8)
        let received = await withCheckedContinuation { continuation in
            // The reader blocks, and so has a thread of its own.
            let descriptor = pipe.readingEnd
            Thread.detachNewThread {
                var received: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while received.last != UInt8(ascii: "\n") {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    received += buffer.prefix(count)
                }
                continuation.resume(returning: received)
            }
            writer.write(line)
        }
        #expect(received == line)
        #expect(pipe.lines().isEmpty)
        #expect(writer.lostLines == 0)
    }

    @Test func aReaderThatIsGoneCostsLinesAndNothingElse() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let writer = LineWriter(descriptor: ends[1])
        writer.write(Array("lost\n".utf8))
        writer.write(Array("lost\n".utf8))
        #expect(writer.lostLines == 2)
    }

    @Test func afterALineThatBrokeOffTheNextOneStandsAlone() throws {
        let pipe = try TestPipe()
        #expect(fcntl(pipe.writingEnd, F_SETFL, O_NONBLOCK) == 0)
        let writer = LineWriter(descriptor: pipe.writingEnd, fullPipeTimeoutMilliseconds: 0)
        writer.write(Array((String(repeating: "z", count: 200_000) + "\n").utf8))
        #expect(writer.lostLines == 1)
        let broken = pipe.lines()
        writer.write(Array("whole\n".utf8))
        #expect(broken.count == 1 && broken[0].utf8.count < 200_000)
        #expect(pipe.lines() == ["whole"])
    }
}

/// A pipe to write a log into and read it back.
final class TestPipe {
    let readingEnd: Int32
    let writingEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        (readingEnd, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    /// The lines that are in the pipe.
    func lines() -> [String] {
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var status = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
        while poll(&status, 1, 0) == 1 {
            let count = read(readingEnd, &buffer, buffer.count)
            guard count > 0 else { break }
            all += buffer.prefix(count)
        }
        return String(decoding: all, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
