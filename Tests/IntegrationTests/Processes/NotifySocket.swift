import Foundation
import TestSupport

/// The service manager's end of `sd_notify(3)`.
final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let path: String

    init(in folder: URL) throws {
        path = folder.appending(path: "notify.sock").path
        descriptor = try UnixSocket.bound(to: path, .datagram)
    }

    deinit { close(descriptor) }

    /// What a process under the service manager finds in its environment: it has to say every second that it does well.
    var environment: [String: String] { ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000"] }

    /// Leaves no room for anybody's message until something is heard again.
    func fill() throws {
        let sender = try UnixSocket.connected(to: path, .datagram)
        defer { close(sender) }
        while send(sender, "X=1", 3, Int32(MSG_DONTWAIT)) == 3 {}
    }

    /// Forgets what has come.
    func forget() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Forgets what has come, and waits until something has been said so many times since.
    ///
    /// `alsoBefore`: what has come counts, too.
    /// - Throws: `WaitedInVain`.
    func hears(_ text: String, times: Int, alsoBefore: Bool = false) async throws {
        if !alsoBefore { forget() }
        let isHeard = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                func take(_ flags: Int32) -> String? {
                    let count = recv(descriptor, &buffer, buffer.count, flags)
                    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
                }
                var heard = 0
                while heard < times, let said = take(0) { heard += said.contains(text) ? 1 : 0 }
                continuation.resume(returning: heard == times)
            }
        }
        guard isHeard else { throw WaitedInVain(what: "`\(text)`, \(times) times, from the daemon") }
    }
}
