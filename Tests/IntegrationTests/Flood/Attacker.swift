import Foundation
import Synchronization

/// Somebody who attacks on a thread of its own until told to stop.
///
/// The thread yields to the daemon's and to those of honest callers: an attacker is another machine, which takes no processor
/// time of ours.
final class Attacker: Sendable {
    /// What it has done so far.
    struct Tally: Sendable {
        var connections = 0
        /// Connections that the other side has ended.
        var closed = 0
        var requests = 0
        var answers: [Int: Int] = [:]

        /// Requests that were answered with an error.
        var refused: Int { answers.filter { $0.key >= 400 }.values.reduce(0, +) }
    }

    private struct State {
        var tally = Tally()
        var isOver = false
        var hasEnded = false
        var pause = 0.0
    }

    private let state = Mutex(State())

    var tally: Tally { state.withLock(\.tally) }

    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Starts: `attack` goes on until it is over.
    init(_ attack: @escaping @Sendable (Attacker) -> Void) {
        Thread.detachNewThread {
            // Of this thread alone (setpriority(2), "C library/kernel differences").
            setpriority(__priority_which_t(0), 0, min(19, getpriority(__priority_which_t(0), 0) + 5))
            attack(self)
            self.state.withLock { $0.hasEnded = true }
        }
    }

    func stop() { state.withLock { $0.isOver = true } }

    /// Lets it pause each time before it goes on, for so many seconds.
    func slowDown(to pause: Double) { state.withLock { $0.pause = pause } }

    /// Whether it is to go on; after its pause.
    func goesOn() -> Bool {
        let (isOver, pause) = state.withLock { ($0.isOver, $0.pause) }
        if pause > 0, !isOver { Thread.sleep(forTimeInterval: pause) }
        return !isOver
    }

    func note(_ change: (inout Tally) -> Void) { state.withLock { change(&$0.tally) } }
}

/// Connections that are opened, given their first bytes and then held; whichever is closed is replaced.
struct HeldConnections: Sendable {
    var count: Int
    /// How many are opened at once, and how many a second after that.
    var burst: Int?
    var perSecond = 5_000.0
    /// Sent on each connection.
    var bytes: [UInt8] = []
    /// Whether answers are read.
    var reads = true
    var sources = ["127.0.0.2"]

    private struct Held {
        let socket: AttackSocket
        var rest: ArraySlice<UInt8>
    }

    /// Goes on until the attacker stops, and closes all of them.
    func run(on port: Int, _ attacker: Attacker) {
        var held: [Held] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let start = ContinuousClock.now
        var opened = 0
        while attacker.goesOn() {
            let allowed = Double(burst ?? 0) + perSecond * (ContinuousClock.now - start).inSeconds
            while held.count < count, Double(opened) < allowed,
                let socket = AttackSocket(
                    to: port, from: sources[opened % sources.count], receiveBuffer: reads ? nil : 2048)
            {
                held.append(Held(socket: socket, rest: bytes[...]))
                opened += 1
            }
            var polled = held.map { connection in
                pollfd(
                    fd: connection.socket.descriptor,
                    events: Int16((connection.rest.isEmpty ? 0 : POLLOUT) | (reads ? POLLIN : 0) | Self.peerHasEnded),
                    revents: 0)
            }
            poll(&polled, nfds_t(polled.count), 10)
            var ended: Set<Int> = []
            for index in polled.indices where polled[index].revents != 0 {
                if !turn(&held[index], polled[index].revents, &buffer) { ended.insert(index) }
            }
            for index in ended { held[index].socket.close() }
            if !ended.isEmpty {
                held = held.indices.filter { !ended.contains($0) }.map { held[$0] }
            }
            attacker.note {
                $0.connections = opened
                $0.closed += ended.count
            }
        }
        for connection in held { connection.socket.close() }
    }

    /// `POLLRDHUP` of poll(2).
    private static let peerHasEnded: Int32 = 0x2000

    /// Whether the connection lives on.
    private func turn(_ connection: inout Held, _ events: Int16, _ buffer: inout [UInt8]) -> Bool {
        let events = Int32(events)
        if events & POLLOUT != 0 {
            guard let sent = connection.socket.send(connection.rest) else { return false }
            connection.rest = connection.rest.dropFirst(sent)
        }
        if reads, events & POLLIN != 0, case .end = connection.socket.receive(into: &buffer) { return false }
        return events & (POLLERR | POLLHUP | Self.peerHasEnded) == 0
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
