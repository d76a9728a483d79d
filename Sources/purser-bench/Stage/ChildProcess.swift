import Dispatch
import Foundation
import Synchronization

/// A program that was started for a measurement; it ends when the bench does, however that ends.
final class ChildProcess: Sendable {
    private enum State {
        case running([CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    let name: String
    let processID: pid_t
    /// What it wrote, standard output and standard error apart.
    let output: URL
    let errorOutput: URL
    private let state: Exit

    /// Its end, of which Foundation tells on a thread of its own.
    private final class Exit: Sendable {
        let state = Mutex(State.running([]))

        func end(_ status: Int32) {
            let waiting = state.withLock { state -> [CheckedContinuation<Int32, Never>] in
                guard case .running(let waiting) = state else { return [] }
                state = .ended(status)
                return waiting
            }
            for continuation in waiting { continuation.resume(returning: status) }
        }
    }

    /// Starts a program; on the thread of a `Spawner`.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: its arguments.
    ///   - environment: variables that it gets besides ours.
    ///   - core: the only core that it may run on.
    ///   - folder: where its output goes.
    /// - Throws: `BenchError`, and what the system says of a program that cannot be started.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], core: Int, folder: URL
    ) throws {
        name = URL(filePath: program).lastPathComponent
        let file = folder.appending(path: "\(name)-\(UUID().uuidString.prefix(8))")
        output = file.appendingPathExtension("out")
        errorOutput = file.appendingPathExtension("err")
        let process = Process()
        process.executableURL = URL(filePath: try Tool.setpriv.path())
        process.arguments =
            ["--pdeathsig", "TERM", "--", try Tool.taskset.path(), "--cpu-list", "\(core)", program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.newFile(output)
        process.standardError = try Self.newFile(errorOutput)
        let exit = Exit()
        process.terminationHandler = { exit.end($0.terminationStatus) }
        try process.run()
        processID = process.processIdentifier
        state = exit
    }

    private static func newFile(_ url: URL) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw BenchError("\(url.path) cannot be written")
        }
        return try FileHandle(forWritingTo: url)
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit status.
    func exitStatus() async -> Int32 {
        await withCheckedContinuation { continuation in
            let ended = state.state.withLock { state -> Int32? in
                switch state {
                case .ended(let status): return status
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    /// Waits for a program that ends by itself.
    ///
    /// - Returns: what it wrote to its standard output.
    /// - Throws: `BenchError` with its last words when it failed.
    func finished() async throws -> String {
        guard await exitStatus() == 0 else { throw BenchError("\(name) failed: \(lastWords)") }
        return try String(contentsOf: output, encoding: .utf8)
    }

    var isRunning: Bool {
        state.state.withLock { state in
            if case .running = state { true } else { false }
        }
    }

    /// Waits until it has nothing left to do, so that the next measurement has the core to itself.
    ///
    /// - Parameter limit: how long at most.
    /// - Throws: `BenchError` when it has ended, or still works when the time is over.
    func settle(within limit: Duration = .seconds(60)) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            let before = try ProcessUsage(of: processID).processorSeconds
            try await Task.sleep(for: .milliseconds(200))
            if try ProcessUsage(of: processID).processorSeconds - before < 0.02 { return }
        }
        throw BenchError("\(name) still works after \(limit.formatted()), when nobody asks it for anything")
    }

    /// Asks it to end.
    func terminate() {
        if isRunning { kill(processID, SIGTERM) }
    }

    /// Ends it for good.
    func killNow() {
        if isRunning { kill(processID, SIGKILL) }
    }

    /// The end of what it wrote, to tell why it failed.
    var lastWords: String {
        let text = [output, errorOutput].compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
        return text.suffix(600).split(separator: "\n").suffix(4).joined(separator: " / ")
    }
}

/// The thread that starts programs, as long as this process lives.
///
/// It has to be the same one and to stay: the kernel ends a program with the thread that started it
/// (PR_SET_PDEATHSIG, prctl(2)), and threads of the pools come and go. It blocks no signals, which those threads do and
/// programs would inherit.
final class Spawner: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let pending = DispatchSemaphore(value: 0)

    init() {
        Thread { [self] in
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(Int32(SIG_SETMASK), &none, nil)
            while true {
                pending.wait()
                let next = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                next?()
            }
        }.start()
    }

    /// Runs something on the thread.
    ///
    /// - Returns: what it returns.
    /// - Throws: what it throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            work.withLock { $0.append { continuation.resume(with: Result(catching: body)) } }
            pending.signal()
        }
    }
}

/// A program of another package.
enum Tool: String, Sendable, CaseIterable {
    case nginx
    case wrk
    case openssl
    /// Also a load generator, but for HTTP/2.
    case h2load
    case strip
    /// Keeps a program to a core.
    case taskset
    /// Ends a program together with the one that started it.
    case setpriv

    /// Where the program is.
    ///
    /// - Throws: `BenchError` when it is not there.
    func path() throws(BenchError) -> String {
        // Servers live where only root looks.
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for folder in folders + ["/usr/sbin", "/sbin"] {
            let path = "\(folder)/\(rawValue)"
            if access(path, X_OK) == 0 { return path }
        }
        throw BenchError("\(rawValue) is missing")
    }
}
