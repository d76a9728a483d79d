import Dispatch
import Foundation
import Synchronization

/// Where a run takes place: its cores, its folder, and every program that it has started.
final class Bench: Sendable {
    let repetitions: Int
    let cores: Cores
    /// Emptied and removed at the end.
    let folder: URL
    let fixtures: Fixtures
    let pythonPeer: PythonPeer?
    private let programs: String
    private let spawner = Spawner()
    /// Every program that has been started in the present row; nil once nothing may be started any more.
    private let processes = Mutex<[ChildProcess]?>([])
    private let folderIsThere = Mutex(true)
    /// The stores that have been filled already.
    private let filled = Mutex<Set<StoreSize>>([])

    /// The folder that this program was started from.
    static var ownFolder: String {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path.map { URL(filePath: $0).deletingLastPathComponent().path } ?? "."
    }

    /// - Parameters:
    ///   - programs: the folder with the programs of this package.
    ///   - directory: the folder to make the run's own in.
    ///   - repetitions: how often each measurement is repeated.
    ///   - pythonPeer: what row 3 compares with besides; nil without.
    /// - Throws: `BenchError`, and errors of the file system and of libcrypto.
    init(programs: String, directory: String, repetitions: Int, pythonPeer: PythonPeer?) throws {
        self.programs = programs
        self.repetitions = repetitions
        self.pythonPeer = pythonPeer
        cores = try Cores()
        let folder = URL(filePath: directory).appending(path: "purser-bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        self.folder = folder
        fixtures = try Fixtures(making: folder.appending(path: "fixtures"))
    }

    /// The path of a program of this package.
    ///
    /// - Throws: `BenchError` when it has not been built.
    func program(_ name: String) throws(BenchError) -> String {
        let path = "\(programs)/\(name)"
        guard access(path, X_OK) == 0 else { throw BenchError("\(path) has not been built") }
        return path
    }

    /// Starts a program that is ended with the row, if not before.
    func start(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], core: Int
    ) async throws -> ChildProcess {
        let process = try await spawner.run { [folder] in
            try ChildProcess(program, arguments, environment: environment, core: core, folder: folder)
        }
        let isWanted = processes.withLock { processes in
            processes?.append(process)
            return processes != nil
        }
        guard isWanted else {
            process.killNow()
            throw BenchError("the run is being ended")
        }
        return process
    }

    /// Runs one of our own measuring loops as a process of its own.
    ///
    /// - Parameters:
    ///   - probe: what to run.
    ///   - core: where.
    /// - Returns: what it measured.
    /// - Throws: `BenchError` with its last words when it fails.
    func run<P: Probe>(_ probe: P, core: Int) async throws -> P.Outcome {
        let plan = String(decoding: try JSONEncoder().encode(probe), as: UTF8.self)
        let process = try await start(try program("purser-bench"), ["probe", P.name, plan], core: core)
        return try JSONDecoder().decode(P.Outcome.self, from: Data(try await process.finished().utf8))
    }

    /// Fills a store, once in a run.
    ///
    /// - Returns: the configuration of a daemon for it.
    func filled(_ size: StoreSize, upstream: Int) async throws -> PurserConfiguration {
        let configuration = size.configuration
        guard filled.withLock({ $0.insert(size).inserted }) else { return configuration }
        // The daemon makes the tables.
        await (try await PurserDaemon.start(configuration, upstream: upstream, in: self)).stop()
        _ = try await run(
            FillProbe(path: configuration.databasePath(in: self), size: size), core: cores.load)
        return configuration
    }

    /// Ends every program that is still running, and waits for that.
    func endProcesses() async {
        let all = processes.withLock { processes in
            defer { processes = processes == nil ? nil : [] }
            return processes ?? []
        }
        for process in all { process.terminate() }
        for process in all {
            let lastResort = Task {
                try await Task.sleep(for: .seconds(10))
                process.killNow()
            }
            _ = await process.exitStatus()
            lastResort.cancel()
        }
    }

    /// Ends every program and removes the folder.
    func close() async {
        await endProcesses()
        removeFolder()
    }

    /// Ends everything without waiting, because somebody wants this program to end.
    func abandon() {
        let all = processes.withLock { processes in
            defer { processes = nil }
            return processes ?? []
        }
        for process in all { process.killNow() }
        removeFolder()
    }

    private func removeFolder() {
        folderIsThere.withLock { isThere in
            guard isThere else { return }
            // A program that is just ending may still write something.
            for attempt in 1...10 {
                do {
                    try FileManager.default.removeItem(at: folder)
                    break
                } catch {
                    if attempt == 10 { Console.progress("\(folder.path) cannot be removed: \(error)") }
                    Thread.sleep(forTimeInterval: 0.05)
                }
            }
            isThere = false
        }
    }
}

/// Why something could not be measured.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Which core does what, so that load and service do not take each other's time.
struct Cores: Sendable {
    /// Runs what is measured, and its reference.
    let service: Int
    /// Runs load generators and what stands for Apple.
    let load: Int

    /// Takes the first and the last core that this process may run on.
    ///
    /// - Throws: `BenchError` when they are the same.
    init() throws(BenchError) {
        let allowed = Self.allowed()
        guard let first = allowed.first, let last = allowed.last, first != last else {
            throw BenchError("two cores are needed, one for the service and one for the load")
        }
        service = first
        load = last
    }

    /// The cores that this process may run on.
    ///
    /// Source: proc_pid_status(5), `Cpus_allowed_list`, such as `0-3,8`
    private static func allowed() -> [Int] {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let name = "Cpus_allowed_list:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return [] }
        return line.dropFirst(name.count).split(separator: ",").flatMap { range in
            let bounds = range.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
            guard let first = bounds.first, let last = bounds.last, first <= last else { return [Int]() }
            return Array(first...last)
        }
    }
}

/// Ends everything when a person or the system asks this program to end.
struct EndOnSignal {
    private let sources: [any DispatchSourceSignal]

    init(_ bench: Bench) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // Not `SIG_IGN`, which programs that are started would inherit.
            signal(number) { _ in }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                bench.abandon()
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
