import CCurl
import Glibc
import Synchronization

/// What callers ask of the loop.
enum Command: Sendable {
    /// Carry out a request.
    case start(Submission)
    /// End a transfer and report it as cancelled, if it is not over.
    case cancel(TransferID)
    /// Answer true, to show that the loop turns.
    case beat(CheckedContinuation<Bool, Never>)
    /// End, and answer when everything is released.
    case stop(CheckedContinuation<Void, Never>?)
}

/// A request as a caller hands it to the loop.
struct Submission: Sendable {
    let id: TransferID
    let request: CurlRequest
    let submitted: ContinuousClock.Instant
    let completion: Transfer.Completion
}

/// Names a transfer from any thread, for as long as a caller may want to cancel it.
struct TransferID: Hashable, Sendable {
    let number: UInt64
}

/// The way from any thread to the loop.
final class CommandQueue: Sendable {
    private struct State {
        var commands: [Command] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let signal: WakeUpSignal

    init(waking signal: WakeUpSignal) { self.signal = signal }

    /// Adds a command, and wakes the loop if it may be waiting: it takes all commands at once, so one wake-up serves
    /// all that come before it does.
    ///
    /// - Parameter command: What to do.
    /// - Returns: False if the loop has ended, so that the command will not be looked at.
    func submit(_ command: Command) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            return (true, state.commands.count == 1)
        }
        // Without the lock, which the loop wants as soon as it is awake.
        if isFirst { signal.give() }
        return isTaken
    }

    /// Takes all commands, in their order.
    func takeAll() -> [Command] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Takes the last commands; no others are taken in from here on.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}

/// Wakes the loop, from any thread.
///
/// Source: eventfd(2)
final class WakeUpSignal: Sendable {
    let descriptor: CInt

    init() throws(CurlError) {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw CurlError(errno: errno, during: "eventfd") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Ends the current or the next wait.
    ///
    /// It cannot fail: the counter holds more signals than a process can give.
    func give() { eventfd_write(descriptor, 1) }
}
