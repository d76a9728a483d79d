import Foundation

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
