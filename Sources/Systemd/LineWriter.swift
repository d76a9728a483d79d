import Glibc
import Synchronization

/// Writes log lines to a descriptor, each whole and by itself.
final class LineWriter: Sendable {
    /// The most bytes of a line, its line end included.
    ///
    /// journald and most collectors cut or split longer ones.
    static let maximumLineBytes = 48 * 1024

    /// What stands where something was cut.
    static let cutMarker = "...[truncated]"

    private let descriptor: Int32
    private let fullPipeTimeoutMilliseconds: Int32
    private let lost = Atomic<Int>(0)

    /// Held for the whole of a line, so that the rest of one that was written in parts follows at once; the value says
    /// that such a rest is missing and the descriptor stands in the middle of a line.
    private let isMidLine = Mutex(false)

    /// Makes a writer, and has this process ignore `SIGPIPE`: a reader of the log that went away must not end it.
    ///
    /// - Parameters:
    ///   - descriptor: where to write; it stays the caller's.
    ///   - fullPipeTimeoutMilliseconds: how long a line waits for room in a full pipe before it is given up.
    init(descriptor: Int32, fullPipeTimeoutMilliseconds: Int32 = 1000) {
        self.descriptor = descriptor
        self.fullPipeTimeoutMilliseconds = fullPipeTimeoutMilliseconds
        signal(SIGPIPE, SIG_IGN)
    }

    /// How many lines could not be written, or not to their end.
    var lostLines: Int { lost.load(ordering: .relaxed) }

    /// Writes one line, which brings its own line end.
    func write(_ line: [UInt8]) {
        isMidLine.withLock { isMidLine in
            let bytes = isMidLine ? [UInt8(ascii: "\n")] + line : line
            let written = bytes.withUnsafeBytes(writeAll)
            if written > 0 { isMidLine = written < bytes.count }
            if written < bytes.count { lost.add(1, ordering: .relaxed) }
        }
    }

    /// Returns how many of the bytes were written before the descriptor failed.
    private func writeAll(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count, let start = bytes.baseAddress {
            let count = Glibc.write(descriptor, start + written, bytes.count - written)
            if count > 0 {
                written += count
            } else if errno == EAGAIN, waitUntilWritable() {
                continue
            } else if errno != EINTR {
                return written
            }
        }
        return written
    }

    private func waitUntilWritable() -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Glibc.poll(&poll, 1, fullPipeTimeoutMilliseconds) > 0
    }
}
