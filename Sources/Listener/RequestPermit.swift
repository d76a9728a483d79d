import Synchronization

/// The place that one connection takes among the requests that are worked on: requests of a connection are answered one
/// after the other, so it takes one at most.
package final class RequestPermit: Sendable {
    private enum State {
        case outside
        case inside
        /// The request waits for something that is no work, and takes no place meanwhile.
        case idle
    }

    private let gate: RequestGate
    private let state = Mutex(State.outside)

    init(gate: RequestGate) { self.gate = gate }

    /// Takes a place, if there is one or the connection has one.
    func take() -> Bool {
        state.withLock { state in
            guard state == .outside else { return true }
            guard gate.admit() else { return false }
            state = .inside
            return true
        }
    }

    /// Gives the place back, if there is one.
    func giveBack() {
        state.withLock { state in
            if state == .inside { gate.leave() }
            state = .outside
        }
    }

    /// Gives the place back for as long as the request waits for something to happen that may take a minute or never come.
    package func beginIdling() { change(from: .inside, to: .idle) { $0.leave() } }

    /// Takes the place again; nobody who was let in is turned away later on.
    package func endIdling() { change(from: .idle, to: .inside) { $0.readmit() } }

    private func change(from expected: State, to next: State, _ tell: (RequestGate) -> Void) {
        state.withLock { state in
            guard state == expected else { return }
            state = next
            tell(gate)
        }
    }
}
