import Foundation
import Synchronization
import TestSupport

/// The daemons that callers may ask: one that comes and goes, or several copies on one database.
final class CrashFleet: Sendable {
    private struct State {
        var serving: Set<Int> = []
        var processes: [Int: DaemonProcess] = [:]
        var stopped: Set<Int> = []
    }

    let stages: [DaemonStage]
    /// An instance on the same database with another master key, which must never start.
    private let wrongMasterKey: DaemonStage?
    /// Whether any of them serves.
    private let life = DaemonLife()
    private let state = Mutex(State())

    init(_ stages: [DaemonStage], wrongMasterKey: DaemonStage? = nil) {
        self.stages = stages
        self.wrongMasterKey = wrongMasterKey
    }

    /// Starts the instance with another master key, which ends.
    ///
    /// - Throws: `Failure` unless it refuses the key; a server that has ended its connection may keep it from reading what is sealed.
    func startWithWrongMasterKey() async throws {
        guard let process = try wrongMasterKey?.launch() else { return }
        let status = try await process.ended
        guard status == 78 || process.log.text.contains("store cannot be used now") else {
            throw DaemonStage.Failure(
                description: "an instance with another master key ended with \(status):\n\(process.log.text)")
        }
    }

    /// One that serves, any of them; waits for one.
    ///
    /// - Throws: `CancellationError` when there will be none any more, `WaitedInVain`.
    func serving() async throws -> DaemonStage {
        while true {
            try await life.untilUp()
            if let number = state.withLock({ $0.serving.randomElement() }) { return stages[number] }
        }
    }

    /// Starts one and waits until it serves.
    func start(_ number: Int) async throws {
        let process = try await stages[number].start()
        state.withLock { $0.processes[number] = process }
        show(number)
    }

    /// Starts one without waiting for anything of it.
    func launch(_ number: Int) throws {
        let process = try stages[number].launch()
        state.withLock { $0.processes[number] = process }
    }

    /// Kills one.
    func kill(_ number: Int) async throws {
        hide(number)
        let process = state.withLock { state in
            state.stopped.remove(number)
            return state.processes.removeValue(forKey: number)
        }
        try await process?.kill()
    }

    /// Stops one where it is, until it is woken; callers that ask it wait.
    func stop(_ number: Int) {
        signal(number, SIGSTOP)
        state.withLock { _ = $0.stopped.insert(number) }
    }

    /// Lets one go on that was stopped.
    func wake(_ number: Int) {
        guard state.withLock({ $0.stopped.remove(number) != nil }) else { return }
        signal(number, SIGCONT)
        show(number)
    }

    /// Lets nobody new ask one.
    func hide(_ number: Int) {
        let isAnyLeft = state.withLock { state in
            state.serving.remove(number)
            return !state.serving.isEmpty
        }
        if !isAnyLeft { life.end() }
    }

    /// There will be no daemon any more.
    func isOver() {
        for number in stages.indices { wake(number) }
        life.isOver()
    }

    /// The process of one that runs.
    func process(_ number: Int) -> DaemonProcess? { state.withLock { $0.processes[number] } }

    private func show(_ number: Int) {
        state.withLock { _ = $0.serving.insert(number) }
        life.begin()
    }

    private func signal(_ number: Int, _ signal: Int32) {
        if let process = process(number) { Foundation.kill(process.processID, signal) }
    }
}
