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
