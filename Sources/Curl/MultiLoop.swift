import CCurl

/// Carries out transfers on the one thread that owns all handles of curl.
///
/// Each turn takes the new commands, lets curl do what it can, delivers what has ended and waits for whatever comes
/// first: the network, a command or a deadline. Nothing in a turn blocks but that wait.
final class MultiLoop {
    /// Handles kept for further transfers.
    private static let maximumIdleHandles = 64
    /// How long a wait may last when nothing is under way; commands end it at once.
    private static let longestWait = Duration.seconds(60)

    private let configuration: CurlConfiguration
    private let queue: CommandQueue
    /// Let go of when the loop ends.
    private var multi: MultiHandle?
    /// Everything that has been started and is not over, under way or waiting.
    private var transfers: [TransferID: Transfer] = [:]
    private var transfersUnderWay = 0
    /// Those among them that have a connection of their own, beyond the connections that hosts may have otherwise.
    private var ownConnections = 0
    private var waiting = WaitingLine()
    private var idleHandles: [EasyHandle] = []
    /// No deadline passes before this moment.
    private var nextDeadline: ContinuousClock.Instant?
    private var stopWaiters: [CheckedContinuation<Void, Never>] = []
    private var isStopping = false

    init(_ multi: MultiHandle?, _ queue: CommandQueue, _ configuration: CurlConfiguration) {
        self.multi = multi
        self.queue = queue
        self.configuration = configuration
    }

    /// Turns until it is asked to stop, or curl cannot go on.
    func run() {
        var failure: CurlError?
        while !isStopping, failure == nil, let multi {
            do throws(CurlError) { try turn(multi) } catch { failure = error }
        }
        end(failure)
    }

    private func turn(_ multi: MultiHandle) throws(CurlError) {
        queue.takeAll().forEach(apply)
        guard !isStopping else { return }
        startWaitingTransfers(multi)
        try multi.runTimer()
        while let (pointer, code) = multi.nextCompletion() {
            guard let transfer = Transfer.of(pointer), let easy = transfer.easy else { continue }
            finish(transfer, with: transfer.result(code, on: easy))
        }
        failOverdueTransfers()
        try multi.waitAndWork(atMost: timeToWait())
    }

    private func timeToWait() -> Duration {
        // A place that has just become free is filled in the next turn.
        if !waiting.isEmpty, transfersUnderWay < configuration.maximumConcurrentTransfers { return .zero }
        guard let nextDeadline else { return Self.longestWait }
        return min(Self.longestWait, max(.zero, nextDeadline - .now))
    }

    private func apply(_ command: Command) {
        switch command {
        case .start(let submission):
            let transfer = Transfer(submission, configuration)
            transfers[transfer.id] = transfer
            waiting.append(transfer.id)
            nextDeadline = min(nextDeadline ?? transfer.deadline, transfer.deadline)
        case .cancel(let id):
            guard let transfer = transfers[id] else { return }
            abandon(transfer, .cancelled(requestMayHaveBeenSent: transfer.requestMayHaveBeenSent))
        case .beat(let continuation):
            continuation.resume(returning: true)
        case .stop(let continuation):
            isStopping = true
            if let continuation { stopWaiters.append(continuation) }
        }
    }

    // MARK: Transfers

    private func startWaitingTransfers(_ multi: MultiHandle) {
        while transfersUnderWay < configuration.maximumConcurrentTransfers, let id = waiting.next() {
            // Those that were cancelled or overdue while they waited are gone.
            guard let transfer = transfers[id] else { continue }
            do throws(CurlError) {
                let easy = if let idle = idleHandles.popLast() { idle } else { try EasyHandle() }
                try transfer.prepare(easy)
                if transfer.request.needsOwnConnection { try allowOwnConnections(ownConnections + 1, multi) }
                try multi.add(easy)
                transfer.easy = easy
                transfersUnderWay += 1
            } catch {
                finish(transfer, with: .failure(error))
            }
        }
    }

    /// Ends a transfer that may be under way.
    ///
    /// If it has its connection to itself, that is closed. Taking the transfer out would only queue the reset of an
    /// HTTP/2 stream, which curl sends with whatever the connection carries next; the server should learn of it now.
    /// Besides, a connection that brought no response in time may be dead.
    private func abandon(_ transfer: Transfer, _ error: CurlError) {
        do throws(CurlError) {
            try transfer.easy?.set(CURLOPT_FORBID_REUSE, 1)
            finish(transfer, with: .failure(error))
        } catch {
            finish(transfer, with: .failure(error.with(requestMayHaveBeenSent: transfer.requestMayHaveBeenSent)))
        }
    }

    /// Takes a transfer out of the loop and delivers its result.
    private func finish(_ transfer: Transfer, with result: Result<CurlResponse, CurlError>) {
        transfers[transfer.id] = nil
        guard let easy = transfer.easy, let multi else { return transfer.complete(result) }
        transfer.easy = nil
        transfersUnderWay -= 1
        do throws(CurlError) {
            try multi.remove(easy)
            if transfer.request.needsOwnConnection { try allowOwnConnections(ownConnections - 1, multi) }
            easy.recycle(after: transfer.request, succeeded: result.isSuccess)
            if idleHandles.count < Self.maximumIdleHandles { idleHandles.append(easy) }
            transfer.complete(result)
        } catch {
            transfer.complete(.failure(error.with(requestMayHaveBeenSent: transfer.requestMayHaveBeenSent)))
        }
    }

    /// Makes room for connections that requests have to themselves: on one that all share, they would have to wait for a
    /// moment in which nobody else uses it.
    private func allowOwnConnections(_ count: Int, _ multi: MultiHandle) throws(CurlError) {
        try multi.setMaximumConnectionsPerHost(configuration.maximumConnectionsPerHost + count)
        ownConnections = count
    }

    /// Ends the transfers whose total timeout is over.
    ///
    /// curl has a timeout of its own for this, but does not look at it while a transfer waits for a connection to
    /// share.
    private func failOverdueTransfers() {
        let now = ContinuousClock.now
        guard let nextDeadline, nextDeadline <= now else { return }
        for transfer in transfers.values where transfer.deadline <= now {
            let limit = min(transfer.request.totalTimeout, transfer.submitted.duration(to: now)).milliseconds
            abandon(
                transfer,
                CurlError(
                    CURLE_OPERATION_TIMEDOUT, during: "transfer", detail: "not complete after \(limit) ms",
                    requestMayHaveBeenSent: transfer.requestMayHaveBeenSent))
        }
        self.nextDeadline = transfers.values.map(\.deadline).min()
    }

    // MARK: End

    /// Releases everything, then answers whoever still waits for something.
    private func end(_ failure: CurlError?) {
        for transfer in transfers.values {
            finish(transfer, with: .failure(Self.ending(failure, transfer.requestMayHaveBeenSent)))
        }
        idleHandles = []
        multi = nil
        for command in queue.close() {
            switch command {
            case .start(let submission): submission.completion.resume(returning: .failure(Self.ending(failure, false)))
            case .cancel: break
            case .beat(let continuation): continuation.resume(returning: false)
            case .stop(let continuation): continuation?.resume()
            }
        }
        stopWaiters.forEach { $0.resume() }
    }

    /// What a transfer fails with that the loop can no longer carry out.
    private static func ending(_ failure: CurlError?, _ requestMayHaveBeenSent: Bool) -> CurlError {
        guard let failure else { return .shutDown(requestMayHaveBeenSent: requestMayHaveBeenSent) }
        return failure.with(requestMayHaveBeenSent: requestMayHaveBeenSent)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// Transfers in the order in which they were submitted.
///
/// Adding and taking cost the same however long the line is.
struct WaitingLine {
    private var arriving: [TransferID] = []
    /// The front of the line, its first at the end.
    private var leaving: [TransferID] = []

    var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }

    mutating func append(_ id: TransferID) { arriving.append(id) }

    mutating func next() -> TransferID? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }
}
