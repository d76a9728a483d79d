import Dispatch
import Foundation
import Systemd

/// A file that is read from front to back, or the standard input.
final class ImportSource: Sendable {
    /// How much is read at once, in bytes.
    private static let chunk = 1 << 16
    /// How long a look for bytes takes before it asks whether they are still wanted, in milliseconds.
    private static let patience: CInt = 100

    /// What it is called in messages.
    let name: String
    /// In bytes; nil where only the end tells.
    let size: Int?
    private let descriptor: CInt
    private let isOwned: Bool
    /// Reads wait, which the threads of Swift's concurrency must not.
    private let queue = DispatchQueue(label: "purser.import")

    /// Opens a file; `-` is the standard input.
    ///
    /// - Throws: `FileError`.
    init(_ path: String) throws(FileError) {
        isOwned = path != "-"
        name = isOwned ? path : "the standard input"
        // A named pipe is read as the standard input is; waiting for its writer can be interrupted, too.
        descriptor = isOwned ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw FileError(path: path, problem: String(cString: strerror(errno))) }
        let status = FileStatus(descriptor: descriptor)
        size = status?.isRegular == true ? status?.size : nil
    }

    deinit { if isOwned { close(descriptor) } }

    /// The bytes that follow; empty at the end, or once nobody wants them.
    ///
    /// - Throws: `FileError`.
    func next(while isWanted: @escaping @Sendable () -> Bool) async throws(FileError) -> [UInt8] {
        let result = await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: read(while: isWanted)) }
        }
        return try result.get()
    }

    private func read(while isWanted: () -> Bool) -> Result<[UInt8], FileError> {
        while isWanted() {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = Foundation.poll(&poll, 1, Self.patience)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, initialized in
                count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                initialized = max(count, 0)
            }
            if count >= 0 { return .success(bytes) }
            guard errno == EINTR || errno == EAGAIN else {
                return .failure(FileError(path: name, problem: String(cString: strerror(errno))))
            }
        }
        return .success([])
    }
}
