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
