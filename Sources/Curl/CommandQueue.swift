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
        /// What to wake, until the loop lets go of it.
        var multi: MultiHandle?
        var isClosed = false
    }

    private let state: Mutex<State>

    /// The handle that is woken, until ``stopWaking()``.
    var multi: MultiHandle? { state.withLock { $0.multi } }

    init(waking multi: MultiHandle) {
        state = Mutex(State(multi: multi))
    }

    /// Adds a command, and wakes the loop if it may be waiting: it takes all commands at once, so one wake-up serves
    /// all that come before it does.
    ///
    /// - Parameter command: What to do.
    /// - Returns: False if the loop has ended, so that the command will not be looked at.
    func submit(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            if state.commands.isEmpty { state.multi?.wakeUp() }
            state.commands.append(command)
            return true
        }
    }

    /// Takes all commands, in their order.
    func takeAll() -> [Command] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Lets go of the multi handle; commands are still taken in.
    func stopWaking() { state.withLock { $0.multi = nil } }

    /// Takes the last commands; no others are taken in from here on.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
