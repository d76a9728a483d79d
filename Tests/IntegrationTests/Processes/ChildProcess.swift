import Foundation

/// A process that the tests start, with nothing of theirs but what it is given.
///
/// Foundation's `Process` watches all children on one thread by a descriptor that each keeps open; ours keep none.
struct ChildProcess: Sendable {
    /// Closes every descriptor but the standard three, ignores the signal of a write beyond the limit of a file's size, then
    /// becomes the program.
    ///
    /// Without the first it would inherit sockets of tests that run beside it, whose other ends then never close.
    private static let launcher =
        "trap '' XFSZ; for path in /proc/self/fd/*; do n=${path##*/}; if [ $n -gt 2 ]; then eval \"exec $n>&-\"; fi; done; exec \"$@\""

    let processID: pid_t
    private let end = OneTime<Int32>()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - environment: all that is in its environment, besides a search path.
    ///   - output: where its output and its errors go, a descriptor; nil for nowhere.
    /// - Throws: if it cannot be started.
    init(_ command: [String], environment: [String: String] = [:], output: Int32? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0)
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, output ?? STDIN_FILENO, descriptor)
        }
        var variables = environment.map { "\($0.key)=\($0.value)" }
        variables.append("PATH=/usr/bin:/bin:/usr/sbin:/sbin")
        let arguments = (["bash", "-c", Self.launcher, "launcher"] + command).map { strdup($0) } + [nil]
        let strings = variables.map { strdup($0) } + [nil]
        defer { for string in arguments + strings { free(string) } }
        var processID = pid_t()
        let code = posix_spawn(&processID, "/bin/bash", &actions, nil, arguments, strings)
        guard code == 0 else {
            throw DaemonStage.Failure(
                description: "\(command[0]) cannot be started: \(String(cString: strerror(code)))")
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
    func kill() {
        if end.now == nil { Foundation.kill(processID, SIGKILL) }
    }

    /// Waits until it has ended: its exit status, or the signal that ended it.
    var ended: Int32 {
        get async throws { try await end.value("process \(processID) to end") }
    }
}
