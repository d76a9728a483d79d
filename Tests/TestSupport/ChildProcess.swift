package import Foundation

/// A process that the tests start, with nothing of theirs but what it is given.
///
/// Foundation's `Process` watches all children on one thread by a descriptor that each keeps open; ours keep none. It also
/// reads the list of open descriptors beyond its end when there are more than a thousand, which now and then is a crash.
package struct ChildProcess: Sendable {
    /// Closes every descriptor but the standard three and sockets that are handed over (sd_listen_fds(3)), ignores the signal of a write beyond the limit of a file's size, then
    /// becomes the program.
    ///
    /// Without the first it would inherit sockets of tests that run beside it, whose other ends then never close.
    private static let launcher =
        """
        trap '' XFSZ
        for path in /proc/self/fd/*; do n=${path##*/}; if [ $n -gt $((2 + ${LISTEN_FDS:-0})) ]; then eval "exec $n>&-"; fi; done
        if [ -n "${LISTEN_FDS:-}" ]; then export LISTEN_PID=$$; fi
        exec "$@"
        """

    package let processID: pid_t
    private let end = OneTime<Int32>()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - environment: all that is in its environment, besides a search path.
    ///   - input: what it reads, a descriptor; nil for nothing.
    ///   - output: where its output goes, a descriptor; nil for nowhere.
    ///   - errors: where its errors go, a descriptor; nil for where its output goes.
    ///   - sockets: listening sockets that it gets as from a service manager, each with its name.
    /// - Throws: if it cannot be started.
    package init(
        _ command: [String], environment: [String: String] = [:], input: Int32? = nil, output: Int32? = nil,
        errors: Int32? = nil, sockets: [(name: String, descriptor: Int32)] = []
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, given) in [
            (STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors ?? output),
        ] {
            if let given {
                posix_spawn_file_actions_adddup2(&actions, given, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        for (number, socket) in sockets.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, socket.descriptor, 3 + Int32(number))
        }
        var path = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
        if !sockets.isEmpty {
            path["LISTEN_FDS"] = "\(sockets.count)"
            path["LISTEN_FDNAMES"] = sockets.map(\.name).joined(separator: ":")
        }
        let variables = environment.merging(path) { given, _ in given }.map { "\($0.key)=\($0.value)" }
        let arguments = (["bash", "-c", Self.launcher, "launcher"] + command).map { strdup($0) } + [nil]
        let strings = variables.map { strdup($0) } + [nil]
        defer { for string in arguments + strings { free(string) } }
        var processID = pid_t()
        let code = posix_spawn(&processID, "/bin/bash", &actions, nil, arguments, strings)
        guard code == 0 else {
            throw NotStarted(description: "\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        self.processID = processID
        let (end, waited) = (end, processID)
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(waited, &status, 0) == -1, errno == EINTR {}
            // The exit status, or the number of the signal that ended it (wait(2)).
            end.give(status & 0x7F == 0 ? (status >> 8) & 0xFF : status & 0x7F)
        }
    }

    /// Ends it at once, if it has not ended by itself.
    package func kill() {
        if end.now == nil { Foundation.kill(processID, SIGKILL) }
    }

    /// Its exit status, or the signal that ended it; nil while it runs.
    package var status: Int32? { end.now }

    /// Waits until it has ended: its exit status, or the signal that ended it.
    package var ended: Int32 {
        get async throws { try await end.value("process \(processID) to end") }
    }
}

// MARK: To the end

extension ChildProcess {
    /// Why there is no process.
    private struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// How a run went.
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: String
        package let errorOutput: String
    }

    /// Runs a program to its end.
    ///
    /// Input and output are files and no pipes, which whatever else is started meanwhile would inherit.
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - environment: all that is in its environment, besides a search path.
    ///   - input: what it reads.
    /// - Returns: its exit status and what it wrote.
    /// - Throws: if it cannot be started or does not end.
    package static func run(
        _ command: [String], environment: [String: String] = [:], input: String = ""
    ) async throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "error"].map { folder.appending(path: $0) }
        try Data(input.utf8).write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let (read, written) = (try FileHandle(forReadingFrom: files[0]), try FileHandle(forWritingTo: files[1]))
        let errors = try FileHandle(forWritingTo: files[2])
        let process = try ChildProcess(
            command, environment: environment, input: read.fileDescriptor, output: written.fileDescriptor,
            errors: errors.fileDescriptor)
        let status: Int32
        do {
            status = try await process.ended
        } catch {
            process.kill()
            throw error
        }
        for handle in [read, written, errors] { try handle.close() }
        return Outcome(
            status: status, output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errorOutput: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}
