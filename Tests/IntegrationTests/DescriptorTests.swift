import Foundation
import JSON
import TestSupport
import Testing

/// A process whose descriptors are used up: who is connected is served, who is not waits, and it recovers by itself.
struct DescriptorTests {
    @Test func `when descriptors are used up new connections wait, and two lines tell of it`() async throws {
        try await DaemonStage.with { stage in
            let process = try await stage.start()
            let socket = stage.api().socket
            let kept = try SilentConnection(to: socket)
            #expect(await kept.isAnswered())
            let limit = 128
            let before = try process.openDescriptors()
            try await process.limitDescriptors(to: limit)
            let waiting = try (0..<limit).map { _ in try SilentConnection(to: socket) }
            try await Wait.until("the listener to be out of descriptors") {
                process.log.text.contains("New connections cannot be accepted and wait")
            }
            // libdispatch would end the process without any to look at its threads with. A quarter is kept for that and for files,
            // up to what one turn of the event loop has accepted at once.
            let bound = limit - limit / 4 + 16
            let used = try process.openDescriptors()
            #expect(used <= bound)
            #expect(await kept.isAnswered(), "who is connected is served")
            // Each that leaves lets the next of the queue in, and not as many as a turn takes in better times.
            for (leaving, next) in zip(waiting, waiting.dropFirst(used - before)).prefix(8) {
                leaving.shutDown()
                // Where the test is slow it was let in before, and closed for its silence.
                _ = await next.isAnswered()
                #expect(try process.openDescriptors() <= bound)
            }
            try await process.limitDescriptors(to: 1024)
            // Those that have waited may have been closed by now, as they have said nothing for long.
            withExtendedLifetime(waiting) {}
            try await Wait.until("a new connection to be served") {
                await (try SilentConnection(to: socket)).isAnswered()
            }
            // Once; where the test was slow it was over for a while in between.
            func lines(_ part: String) -> [Substring] {
                process.log.text.split(separator: "\n").filter { $0.contains(part) }
            }
            let begun = lines("New connections cannot be accepted").count
            try await Wait.until("the listener to say that it is over") {
                lines("New connections are accepted again").count == begun
            }
            #expect(lines("New connections cannot be accepted").count == begun)
            for over in lines("New connections are accepted again") {
                let end = try JSONValue(parsing: Array(over.utf8))
                let attempts = try #require(end["attempts"]?.int64.map { Int($0) })
                let seconds = try #require(end["seconds"]?.int64.map { Int($0) })
                // It rests for a tenth of a second after those of one turn; without that there are thousands a second.
                #expect(attempts <= 16 * (10 * (seconds + 1) + 1))
            }
            #expect(try await process.terminate() == 0)
        }
    }

    /// A connection that says nothing until it is told to.
    private final class SilentConnection: Sendable {
        private let descriptor: Int32

        init(to path: String) throws { descriptor = try UnixSocket.connected(to: path) }

        deinit { close(descriptor) }

        /// Says that nothing will come, so that the listener closes its end.
        func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

        /// Makes a request without credentials, and leaves the connection open.
        func isAnswered() async -> Bool {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [descriptor] in
                    let request = "GET /v1/apps HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    var answer = ""
                    let isSent = send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) > 0
                    // The body of this answer is a JSON object without another one in it.
                    while isSent, !answer.hasSuffix("}") {
                        let count = recv(descriptor, &buffer, buffer.count, 0)
                        guard count > 0 else { break }
                        answer += String(decoding: buffer[..<count], as: UTF8.self)
                    }
                    continuation.resume(returning: answer.hasPrefix("HTTP/1.1 401"))
                }
            }
        }
    }
}
