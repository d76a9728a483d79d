import Foundation

/// Sends HTTP/2 frames without a pause, and replaces connections that end.
struct FrameFlood: Sendable {
    var connections = 8
    /// Whether the client reads what the server sends.
    var reads = true
    var source = "127.0.0.2"
    /// The number of turns of a connection, which then ends when the server has ended as many streams; nil for no end.
    var turns: Int?
    /// Sent first on each connection.
    var opening = HTTP2Frames.opening
    /// The frames of a turn.
    ///
    /// Turns of a connection are numbered from zero.
    let frames: @Sendable (Int) -> [UInt8]

    /// Runs until the attacker stops.
    func run(on port: Int, _ attacker: Attacker) {
        var open: [FrameConnection] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while attacker.goesOn() {
            while open.count < connections,
                let socket = AttackSocket(to: port, from: source, receiveBuffer: reads ? nil : 2048)
            {
                open.append(FrameConnection(socket, opening))
                attacker.note { $0.connections += 1 }
            }
            var sentTurns = 0
            for index in open.indices where open[index].takesTurn(of: turns ?? .max) {
                open[index].take(frames(open[index].turns))
                sentTurns += 1
            }
            var polled = open.map { connection in
                pollfd(
                    fd: connection.socket.descriptor,
                    events: Int16((connection.rest.isEmpty ? 0 : POLLOUT) | (reads ? POLLIN : 0)), revents: 0)
            }
            poll(&polled, nfds_t(polled.count), 10)
            var (ended, answered): (Set<Int>, Set<Int>) = ([], [])
            for index in polled.indices where polled[index].revents != 0 {
                if !open[index].turn(Int32(polled[index].revents), reads, &buffer) { ended.insert(index) }
            }
            if let turns {
                answered = Set(open.indices.filter { open[$0].endedStreams >= turns }).subtracting(ended)
            }
            for index in ended.union(answered) { open[index].socket.close() }
            open = open.indices.filter { !ended.contains($0) && !answered.contains($0) }.map { open[$0] }
            let closed = ended.count
            attacker.note {
                $0.requests += sentTurns
                $0.closed += closed
            }
        }
        for connection in open { connection.socket.close() }
    }
}

/// One connection of a frame flood.
private struct FrameConnection {
    let socket: AttackSocket
    /// The bytes that are not sent yet.
    private(set) var rest: ArraySlice<UInt8>
    /// The number of turns that have begun.
    private(set) var turns = 0
    /// The number of streams that the server has ended.
    private(set) var endedStreams = 0
    private var received: [UInt8] = []
    /// The number of payload bytes that are still to come of the current frame.
    private var skipped = 0

    init(_ socket: AttackSocket, _ opening: [UInt8]) {
        self.socket = socket
        rest = opening[...]
    }

    /// Whether the next turn can begin.
    ///
    /// The first turn is sent together with the opening.
    func takesTurn(of most: Int) -> Bool { turns < most && (turns == 0 || rest.isEmpty) }

    /// Appends the frames of the next turn.
    mutating func take(_ frames: [UInt8]) {
        rest = rest.isEmpty ? frames[...] : rest + frames
        turns += 1
    }

    /// Sends and receives; false when the connection has ended.
    mutating func turn(_ events: Int32, _ reads: Bool, _ buffer: inout [UInt8]) -> Bool {
        if events & POLLOUT != 0 {
            guard let count = socket.send(rest) else { return false }
            rest = rest.dropFirst(count)
        }
        guard reads else { return events & (POLLERR | POLLHUP) == 0 }
        switch socket.receive(into: &buffer) {
        case .nothing: return true
        case .end: return false
        case .bytes(let count):
            note(buffer[..<count])
            return true
        }
    }

    /// Counts the streams that end in the received bytes.
    private mutating func note(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        while !bytes.isEmpty {
            let passed = min(skipped, bytes.count)
            bytes = bytes.dropFirst(passed)
            skipped -= passed
            let head = bytes.prefix(HTTP2Frames.headCount - received.count)
            received += head
            bytes = bytes.dropFirst(head.count)
            guard skipped == 0, received.count == HTTP2Frames.headCount else { continue }
            skipped = received[..<3].reduce(0) { $0 << 8 | Int($1) }
            let endsStream = received[4] & HTTP2Frames.endStream != 0
            switch HTTP2Frames.Kind(rawValue: received[3]) {
            case .headers where endsStream, .data where endsStream, .reset: endedStreams += 1
            default: break
            }
            received = []
        }
    }
}
