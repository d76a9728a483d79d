import Foundation

/// Sends requests from a file on a number of connections and times every answer by its status.
///
/// wrk cannot do either of what the rows need it for: different content in each request, and the times of the admitted
/// apart from those of the refused.
struct LoadProbe: Probe {
    static let name = "load"

    struct Outcome: Codable, Sendable {
        let seconds: Double
        /// How many answers of each status came.
        let answers: [Int: Int]
        /// Of successes, in milliseconds; 0 without any.
        let median: Double
        let percentile99: Double
        /// Requests whose time came while every connection was busy.
        let unsent: Int
        /// Connections that ended without an answer.
        let broken: Int
        /// The beginning of the first answer that was no success; nil if all were.
        let refusal: String?

        /// What came of it when it should have been nothing but successes.
        var trouble: String { "\(answers), \(broken) not at all\(refusal.map { "; the first: \($0)" } ?? "")" }
        var successes: Int { answers.filter { (200..<300).contains($0.key) }.map(\.value).reduce(0, +) }
        var total: Int { answers.values.reduce(0, +) }
        var successesPerSecond: Double { Double(successes) / seconds }
    }

    let port: Int
    /// A `RequestFile`.
    let requests: String
    let connections: Int
    /// The longest that it takes.
    let seconds: Double
    /// Requests a second, whether or not answers come; nil sends the next as soon as a connection is free.
    var rate: Double?
    /// Whether to begin again at the end of the file; otherwise the end of the file is the end.
    var repeats = false
    /// Whether each connection has been used before the clock runs, as those are that callers keep.
    var areKept = false

    func run() async throws -> Outcome {
        var sender = LoadSender(plan: self, requests: try RequestFile.read(requests))
        return try sender.run()
    }
}

/// The loop of `LoadProbe`: one thread, connections that are kept.
///
/// Source: poll(2)
struct LoadSender {
    private let plan: LoadProbe
    private let requests: [[UInt8]]
    private let clock = ContinuousClock()
    private var connections: [LoadConnection] = []
    /// Which connections are waiting for a request, by index.
    private var idle: [Int] = []
    private var next = 0
    private var busy = 0
    private var answers: [Int: Int] = [:]
    /// Of successes, in microseconds.
    private var times: [UInt32] = []
    private var unsent = 0
    private var broken = 0
    private var refusal: String?
    private var lastAnswer: ContinuousClock.Instant?

    init(plan: LoadProbe, requests: [[UInt8]]) {
        self.plan = plan
        self.requests = requests
    }

    /// Sends until the time is over or the file is at its end, and waits for the last answers.
    ///
    /// - Throws: `BenchError` when connections cannot be made.
    mutating func run() throws -> LoadProbe.Outcome {
        defer {
            for connection in connections { close(connection.descriptor) }
        }
        for index in 0..<plan.connections {
            connections.append(try connect(index))
            idle.append(index)
        }
        var polled = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let start = clock.now
        let end = start.advanced(by: .seconds(plan.seconds))
        var offered = 0
        while true {
            let now = clock.now
            let isOver = now >= end || isAtEnd
            if !isOver { offered = try send(at: now, since: start, offered) }
            if isOver, busy == 0 || now >= end.advanced(by: .seconds(20)) { break }
            // With a rate, the next request may be due before the next answer comes.
            guard poll(&polled, nfds_t(polled.count), plan.rate == nil || isOver ? 100 : 1) > 0 else { continue }
            for index in polled.indices where polled[index].revents != 0 {
                try receive(index)
                polled[index].fd = connections[index].descriptor
            }
        }
        return outcome(seconds: start.duration(to: lastAnswer ?? end).inSeconds)
    }

    private func connect(_ index: Int) throws -> LoadConnection {
        var connection = try LoadConnection(to: plan.port)
        guard plan.areKept else { return connection }
        try connection.send(requests[index % requests.count], at: clock.now)
        var polled = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
        while connection.isWaiting {
            guard poll(&polled, 1, 20_000) > 0 else { throw BenchError("a request alone was not answered") }
            if case .closed = try connection.receive() {
                throw BenchError("a request alone found its connection closed")
            }
        }
        return connection
    }

    private var isAtEnd: Bool { !plan.repeats && next >= requests.count }

    /// Sends what is due.
    ///
    /// - Returns: how many requests have been due so far.
    private mutating func send(
        at now: ContinuousClock.Instant, since start: ContinuousClock.Instant, _ offered: Int
    ) throws -> Int {
        guard let rate = plan.rate else {
            while !idle.isEmpty, !isAtEnd { try sendNext(at: now) }
            return offered
        }
        let due = Int(start.duration(to: now).inSeconds * rate)
        for _ in offered..<max(offered, due) {
            guard !idle.isEmpty, !isAtEnd else {
                unsent += 1
                continue
            }
            try sendNext(at: now)
        }
        return max(offered, due)
    }

    private mutating func sendNext(at now: ContinuousClock.Instant) throws {
        guard let index = idle.popLast() else { return }
        try connections[index].send(requests[next % requests.count], at: now)
        next += 1
        busy += 1
    }

    private mutating func receive(_ index: Int) throws {
        switch try connections[index].receive() {
        case .nothing: return
        case .answer(let status):
            let now = clock.now
            lastAnswer = now
            answers[status, default: 0] += 1
            if (200..<300).contains(status) {
                let time = connections[index].sentAt.duration(to: now).inSeconds * 1e6
                times.append(UInt32(clamping: Int(time)))
            } else if refusal == nil {
                refusal = connections[index].content
            }
            busy -= 1
            idle.append(index)
        case .closed:
            if connections[index].isWaiting {
                broken += 1
                busy -= 1
                idle.append(index)
            }
            close(connections[index].descriptor)
            connections[index] = try LoadConnection(to: plan.port)
        }
    }

    private func outcome(seconds: Double) -> LoadProbe.Outcome {
        let sorted = times.sorted()
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
        }
        return LoadProbe.Outcome(
            seconds: seconds, answers: answers, median: percentile(0.5), percentile99: percentile(0.99),
            unsent: unsent, broken: broken + busy, refusal: refusal)
    }
}
