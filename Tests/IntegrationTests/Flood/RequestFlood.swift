import Foundation

/// Requests as fast as they are answered, on connections that are kept; a connection that is closed is replaced.
struct RequestFlood: Sendable {
    var connections = 32
    /// How many requests each connection sends before it reads an answer.
    var ahead = 1
    /// The most requests.
    var limit = Int.max
    var source = "127.0.0.2"
    /// The request of a number, which counts from zero.
    let request: @Sendable (Int) -> [UInt8]

    /// Goes on until the attacker stops or all have been sent and answered.
    func run(on port: Int, _ attacker: Attacker) {
        var open: [FloodingConnection] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var sent = 0
        while attacker.goesOn() {
            while open.count < connections, sent < limit, let socket = AttackSocket(to: port, from: source) {
                open.append(FloodingConnection(socket))
                attacker.note { $0.connections += 1 }
            }
            if open.isEmpty, sent >= limit { return }
            var tally = Attacker.Tally()
            for index in open.indices where open[index].isIdle && sent < limit {
                let count = min(ahead, limit - sent)
                open[index].send((sent..<sent + count).flatMap(request), answers: count)
                sent += count
                tally.requests += count
            }
            var polled = open.map { pollfd(fd: $0.socket.descriptor, events: $0.events, revents: 0) }
            poll(&polled, nfds_t(polled.count), 10)
            var ended: Set<Int> = []
            for index in polled.indices where polled[index].revents != 0 {
                if !open[index].turn(&buffer, &tally.answers) { ended.insert(index) }
            }
            for index in open.indices where sent >= limit && open[index].isIdle { ended.insert(index) }
            for index in ended { open[index].socket.close() }
            open = open.indices.filter { !ended.contains($0) }.map { open[$0] }
            let hasEnded = sent < limit ? ended.count : 0
            attacker.note {
                $0.requests += tally.requests
                $0.closed += hasEnded
                $0.answers.merge(tally.answers, uniquingKeysWith: +)
            }
        }
        for connection in open { connection.socket.close() }
    }
}

/// One connection of a flood: what is still to be sent, and how many answers are still to come.
private struct FloodingConnection {
    let socket: AttackSocket
    private var rest: ArraySlice<UInt8> = []
    private var pending = 0
    private var received: [UInt8] = []

    init(_ socket: AttackSocket) { self.socket = socket }

    var isIdle: Bool { pending == 0 }

    var events: Int16 { Int16(POLLIN | (rest.isEmpty ? 0 : POLLOUT)) }

    mutating func send(_ bytes: [UInt8], answers: Int) {
        rest = bytes[...]
        pending = answers
        if let count = socket.send(rest) { rest = rest.dropFirst(count) }
    }

    /// Sends and receives what can be; false when the connection has ended.
    mutating func turn(_ buffer: inout [UInt8], _ answers: inout [Int: Int]) -> Bool {
        if !rest.isEmpty {
            guard let count = socket.send(rest) else { return false }
            rest = rest.dropFirst(count)
        }
        switch socket.receive(into: &buffer) {
        case .nothing: return true
        case .end: return false
        case .bytes(let count):
            received += buffer[..<count]
            while let answer = Self.answer(at: received) {
                answers[answer.status, default: 0] += 1
                pending -= 1
                received.removeFirst(answer.count)
            }
            return true
        }
    }

    /// The first answer, if it is whole: its status and its length.
    private static func answer(at bytes: [UInt8]) -> (status: Int, count: Int)? {
        guard let end = find("\r\n\r\n", in: bytes, before: bytes.count) else { return nil }
        let status = bytes[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 }
        var length = 0
        for field in ["content-length: ", "Content-Length: "] {
            guard let found = find(field, in: bytes, before: end) else { continue }
            let digits = bytes[found...].prefix { (48...57).contains($0) }
            length = digits.reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        return bytes.count >= end + length ? (status, end + length) : nil
    }

    /// Where a text ends that stands in bytes.
    private static func find(_ text: String, in bytes: [UInt8], before end: Int) -> Int? {
        let text = Array(text.utf8)
        var place = 0
        while place + text.count <= end {
            if bytes[place] == text[0], bytes[place..<place + text.count].elementsEqual(text) {
                return place + text.count
            }
            place += 1
        }
        return nil
    }
}
