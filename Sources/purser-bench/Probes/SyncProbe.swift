import Foundation

/// Writes a page and waits until the disk has it, over and over: what a commit costs at least.
struct SyncProbe: Probe {
    static let name = "sync"

    struct Outcome: Codable, Sendable {
        let syncsPerSecond: Double
    }

    /// A page of SQLite's with the head of its frame in the log (https://www.sqlite.org/fileformat2.html, section 4.1).
    private static let frameBytes = 4096 + 24
    /// As long as the log is when SQLite begins anew at its start; the file is written before, since a growing one is slower.
    private static let fileBytes = 1000 * frameBytes

    /// The file to write to; it must be on the disk of the database.
    let path: String
    let seconds: Double

    func run() async throws -> Outcome {
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5A, count: Self.frameBytes)
        for offset in stride(from: 0, to: Self.fileBytes, by: Self.frameBytes) { try write(page, descriptor, offset) }
        guard fsync(descriptor) == 0 else { throw failure("fsync") }
        let start = ContinuousClock.now
        var count = 0
        var elapsed = Duration.zero
        repeat {
            try write(page, descriptor, count * Self.frameBytes % Self.fileBytes)
            guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
            count += 1
            elapsed = start.duration(to: .now)
        } while elapsed < .seconds(seconds)
        return Outcome(syncsPerSecond: Double(count) / elapsed.inSeconds)
    }

    private func write(_ page: [UInt8], _ descriptor: Int32, _ offset: Int) throws {
        guard pwrite(descriptor, page, page.count, off_t(offset)) == page.count else { throw failure("write") }
    }

    private func failure(_ operation: String) -> BenchError {
        BenchError("cannot \(operation) \(path): \(String(cString: strerror(errno)))")
    }
}
