import Foundation
import Synchronization
import TestSupport

/// A `purser` that runs beside the tests as a process of its own, which can be killed.
struct DaemonProcess: Sendable {
    /// What it wrote, the latest lines only.
    final class Log: Sendable {
        static let capacity = 20_000
        private let lines = Mutex<[String]>([])
        private let capacity: Int

        fileprivate init(capacity: Int) { self.capacity = capacity }

        var text: String { lines.withLock { $0.joined(separator: "\n") } }

        fileprivate func append(_ line: String) {
            lines.withLock { lines in
                lines.append(line)
                if lines.count / 2 >= capacity { lines.removeFirst(lines.count - capacity) }
            }
        }
    }

    let log: Log
    let process: ChildProcess
    private let readiness = OneTime<Bool>()

    /// The `purser` that was built beside the tests, unless `make flood` is to attack another.
    static let program =
        ProcessInfo.processInfo.environment["FLOOD_PROGRAM"]
        ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser").path

    /// Starts ``program``, with nothing in its environment but what is given.
    ///
    /// `arguments`: of the program; `command`: in front of it, what is to become it; `environment`: all that is in its
    /// environment, besides a search path; `logLines`: how many of the latest lines are kept; `sockets`: those that it gets.
    init(
        _ arguments: [String], after command: [String] = [], environment: [String: String] = [:],
        logLines: Int = Log.capacity, sockets: [(name: String, descriptor: Int32)] = []
    ) throws {
        log = Log(capacity: logLines)
        let output = Pipe()
        process = try ChildProcess(
            command + [Self.program] + arguments, environment: environment,
            output: output.fileHandleForWriting.fileDescriptor, sockets: sockets)
        // Its own end is the last then, and the pipe ends with it.
        try output.fileHandleForWriting.close()
        let (log, readiness) = (log, readiness)
        Thread.detachNewThread { Self.read(output.fileHandleForReading, into: log, readiness) }
    }

    private static func read(_ handle: FileHandle, into log: Log, _ readiness: OneTime<Bool>) {
        var rest: [UInt8] = []
        while true {
            let data = handle.availableData
            guard !data.isEmpty else { break }
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                log.append(line)
                if line.contains(#""message":"Ready"#) { readiness.give(true) }
            }
        }
        readiness.give(false)
    }

    var processID: pid_t { process.processID }

    /// Whether it serves; false when it ended before.
    var isReady: Bool {
        get async throws { try await readiness.value("purser to be ready or to end") }
    }

    /// Lets no write to a file go beyond so many bytes, as on a disk that takes no more; nil for no limit.
    func limitFileSize(to bytes: Int?) async throws {
        try await limit("--fsize=\(bytes.map(String.init) ?? "unlimited"):unlimited")
    }

    /// Lets it open no descriptor beyond so many.
    func limitDescriptors(to count: Int) async throws { try await limit("--nofile=\(count):") }

    /// How many descriptors it has open.
    func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count
    }

    private func limit(_ limit: String) async throws {
        let command = try ChildProcess(["prlimit", "--pid", "\(processID)", limit])
        guard try await command.ended == 0 else {
            throw DaemonStage.Failure(
                description:
                    "prlimit \(limit) fails for process \(processID), of which the log ends: \(log.text.suffix(1000))")
        }
    }

    /// Ends it as a power failure would, and waits until it is gone.
    func kill() async throws {
        process.kill()
        _ = try await process.ended
        _ = try await isReady
    }

    /// Asks it to finish what is under way and end; its exit status, or the signal that ended it.
    func terminate() async throws -> Int32 {
        Foundation.kill(processID, SIGTERM)
        return try await ended
    }

    /// Waits until it has ended by itself.
    var ended: Int32 {
        get async throws { try await process.ended }
    }
}
