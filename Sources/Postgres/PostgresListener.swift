import CPostgres
import Foundation
import Glibc
import Synchronization

/// Hears what other connections tell channels, on a connection and a thread of its own.
///
/// Nothing that was told while there was no connection is told later: whoever listens looks for itself at each
/// ``Event/listening``.
package final class PostgresListener: Sendable {
    /// What a listener is told.
    package enum Event: Sendable, Equatable {
        /// From here on everything is heard; comes again after each loss.
        case listening
        case notified(PostgresConnection.Notification)
        /// Nothing is heard until the next ``listening``.
        case lost(PostgresError)
    }

    private let signal: StopSignal
    private let end = ThreadEnd()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - configuration: the server and the database.
    ///   - channels: names in lower-case letters and underscores.
    ///   - retryDelay: how long it waits before it tries to connect again.
    ///   - tell: is told, on the listener's thread; it must be quick.
    /// - Throws: ``PostgresError`` when the system has no descriptor left.
    package init(
        _ configuration: PostgresConfiguration, channels: [String], retryDelay: Duration = .seconds(1),
        tell: @escaping @Sendable (Event) -> Void
    ) throws(PostgresError) {
        let signal = try StopSignal()
        self.signal = signal
        let end = end
        let thread = Thread {
            ListenerLoop(configuration, channels, retryDelay, signal, tell).run()
            end.come()
        }
        thread.start()
        // After the start, else it does not reach the kernel.
        thread.name = "postgres-listen"
    }

    deinit { signal.give() }

    /// Ends the thread and its connection.
    package func shutdown() async {
        signal.give()
        await end.value()
    }
}

/// The listener's thread: connects, waits for the server or the end, and connects again.
private struct ListenerLoop {
    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let retryDelay: Duration
    private let signal: StopSignal
    private let tell: @Sendable (PostgresListener.Event) -> Void

    init(
        _ configuration: PostgresConfiguration, _ channels: [String], _ retryDelay: Duration, _ signal: StopSignal,
        _ tell: @escaping @Sendable (PostgresListener.Event) -> Void
    ) {
        self.configuration = configuration
        self.channels = channels
        self.retryDelay = retryDelay
        self.signal = signal
        self.tell = tell
    }

    func run() {
        while !signal.isGiven {
            do throws(PostgresError) {
                try listen()
            } catch {
                tell(.lost(error))
                signal.wait(atMost: retryDelay)
            }
        }
    }

    private func listen() throws(PostgresError) {
        let connection = try PostgresConnection(configuration)
        for channel in channels { try connection.run(script: "LISTEN \(channel)") }
        tell(.listening)
        while !signal.isGiven {
            for notification in try connection.takeNotifications() { tell(.notified(notification)) }
            signal.wait(for: connection.descriptor)
        }
    }
}

/// Ends the waits of a listener, from any thread.
private final class StopSignal: Sendable {
    private let descriptor: CInt
    private let given = Atomic(false)

    init() throws(PostgresError) {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw PostgresError(.other, String(cString: strerror(errno)), during: "eventfd") }
    }

    deinit { close(descriptor) }

    var isGiven: Bool { given.load(ordering: .acquiring) }

    func give() {
        given.store(true, ordering: .releasing)
        eventfd_write(descriptor, 1)
    }

    /// Waits until there is something to read, or this signal was given.
    func wait(for other: CInt) {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        poll(&watched, nfds_t(watched.count), -1)
    }

    /// Waits for a time, or until this signal was given.
    func wait(atMost duration: Duration) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        poll(&watched, 1, CInt(clamping: milliseconds))
    }
}
