import CSystemd
import Dispatch
import Glibc
package import Logging
import Synchronization

/// Tells the service manager how this process is doing.
///
/// Source: sd_notify(3), sd_watchdog_enabled(3)
package struct Notifier: Sendable {
    /// How long whoever tells something waits for a service manager that takes no message.
    private static let patience = Duration.seconds(1)
    /// How many messages may wait for it; more are refused.
    private static let maximumPending = 256

    /// What all copies of a notifier share.
    private final class Shared: Sendable {
        let pending = Atomic<Int>(0)
        let isFailing = Atomic<Bool>(false)
    }

    private let deliver: @Sendable (String) throws(SystemdError) -> Bool
    private let clock: any Clock<Duration>
    /// A service manager that does not read, with ten messages before it, holds up whoever sends the next one.
    private let queue = DispatchQueue(label: "purser.notify")
    private let shared = Shared()

    /// Makes the notifier that talks to the service manager of this process through libsystemd.
    ///
    /// libsystemd reads the socket's address from `NOTIFY_SOCKET` at each call.
    package init() {
        self.init { (assignments) throws(SystemdError) in
            let result = sd_notify(0, assignments)
            guard result >= 0 else { throw SystemdError(operation: "sd_notify", code: -result) }
            return result > 0
        }
    }

    /// Makes a notifier with another way out, so that a test can read along.
    ///
    /// - Parameters:
    ///   - clock: a monotonic clock.
    ///   - deliver: gets the message, one `NAME=value` a line, and says whether anybody listens; it may block.
    package init(
        clock: any Clock<Duration> = ContinuousClock(),
        deliver: @escaping @Sendable (String) throws(SystemdError) -> Bool
    ) {
        self.clock = clock
        self.deliver = deliver
    }

    /// Sends the given states in one message, which the service manager applies in order.
    ///
    /// Waits for a second if the service manager takes no message, or until the task is cancelled; no thread of the cooperative
    /// pool waits with it. What was given up is still sent, in its turn, once messages are taken again.
    ///
    /// - Returns: `false` when the process does not run under a service manager that listens; nothing was sent then.
    /// - Throws: the `errno` with which the message could not be sent; `ETIMEDOUT` when it is not taken, `EAGAIN` when too many
    ///   wait already, so that this one is never sent; `ECANCELED` when the task was cancelled meanwhile.
    @discardableResult
    package func notify(_ states: State...) async throws(SystemdError) -> Bool { try await notify(states) }

    private func notify(_ states: [State]) async throws(SystemdError) -> Bool {
        let message = states.map(\.assignment).joined(separator: "\n")
        guard shared.pending.add(1, ordering: .relaxed).newValue <= Self.maximumPending else {
            shared.pending.subtract(1, ordering: .relaxed)
            throw SystemdError(operation: "sd_notify", code: EAGAIN)
        }
        let (results, continuation) = AsyncStream.makeStream(
            of: Result<Bool, SystemdError>.self, bufferingPolicy: .bufferingOldest(1))
        queue.async { [deliver, shared] in
            continuation.yield(Result { () throws(SystemdError) in try deliver(message) })
            shared.pending.subtract(1, ordering: .relaxed)
        }
        let limit = Task { [clock] in
            guard (try? await clock.sleep(for: Self.patience)) != nil else { return }
            continuation.yield(.failure(SystemdError(operation: "sd_notify", code: ETIMEDOUT)))
        }
        defer { limit.cancel() }
        for await result in results { return try result.get() }
        throw SystemdError(operation: "sd_notify", code: ECANCELED)
    }

    /// Sends as `notify` does; that it fails is logged once, and once that it works again, as nothing else can be done about it.
    package func tell(_ states: State..., logger: Logger) async {
        do {
            _ = try await notify(states)
            if shared.isFailing.exchange(false, ordering: .relaxed) {
                logger.notice("The service manager can be told again")
            }
        } catch {
            guard error.code != ECANCELED, !shared.isFailing.exchange(true, ordering: .relaxed) else { return }
            logger.error("The service manager cannot be told", metadata: ["cause": "\(error)"])
        }
    }

    /// What the kernel's monotonic clock shows, by which the service manager tells a reload from one before it.
    package static func monotonicNow() -> Duration {
        var time = timespec()
        // Fails only for a clock that there is not.
        _ = clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The time within which the service manager wants to hear ``State/watchdog``, or `nil` when it does not watch.
    ///
    /// - Throws: `EINVAL` when `WATCHDOG_USEC` or `WATCHDOG_PID` is malformed.
    package static func watchdogInterval() throws(SystemdError) -> Duration? {
        var microseconds: UInt64 = 0
        let result = sd_watchdog_enabled(0, &microseconds)
        guard result >= 0 else { throw SystemdError(operation: "sd_watchdog_enabled", code: -result) }
        return result == 0 ? nil : .microseconds(Int64(clamping: microseconds))
    }
}

extension Notifier {
    /// One thing to tell the service manager.
    ///
    /// Source: sd_notify(3)
    package enum State: Sendable, Equatable {
        /// Start-up is complete (`READY=1`).
        case ready

        /// One line for people, shown by `systemctl status` (`STATUS=`).
        ///
        /// Control characters become blanks, and at most ``maximumStatusBytes`` bytes are sent.
        case status(String)

        /// The configuration is read anew (`RELOADING=1`), until ``ready`` is told; `since` is `CLOCK_MONOTONIC` now
        /// (`MONOTONIC_USEC=`).
        case reloading(since: Duration)

        /// Shutdown has begun (`STOPPING=1`).
        case stopping

        /// The process makes progress (`WATCHDOG=1`).
        case watchdog

        /// The process id to watch, when it is not the one that was started (`MAINPID=`).
        case mainPID(Int32)

        /// Start-up or shutdown goes on, and needs this long again from now (`EXTEND_TIMEOUT_USEC=`).
        case extendTimeout(Duration)

        /// The most bytes of UTF-8 that a status takes; systemd drops a message longer than 4096 bytes whole.
        package static let maximumStatusBytes = 512

        var assignment: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=\(Self.oneLine(text))"
            case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(Self.microseconds(since))"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .mainPID(let processID): "MAINPID=\(processID)"
            case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(Self.microseconds(duration))"
            }
        }

        /// A line end would start another assignment, and a NUL would end the message.
        private static func oneLine(_ text: String) -> String {
            var line = ""
            for character in text {
                let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
                let next = isControl ? " " : character
                guard line.utf8.count + next.utf8.count <= maximumStatusBytes else { break }
                line.append(next)
            }
            return line
        }

        private static func microseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = duration.components
            let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
            return overflow ? .max : max(0, whole + attoseconds / 1_000_000_000_000)
        }
    }
}
