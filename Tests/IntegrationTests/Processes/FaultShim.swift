import Foundation
import TestSupport

/// Faults that a test gives to one process alone, by a shared object that is loaded before the C library: threads that hang
/// where they stand, and a disk that fails or hangs under the database.
///
/// Source: ld.so(8), `LD_PRELOAD`; tgkill(2)
struct FaultShim: Sendable {
    /// What becomes of each write to the database, and of each time that it is made durable.
    enum Disk: String, Sendable, CaseIterable {
        case works = "0"
        case isFull = "ENOSPC"
        case fails = "EIO"
        case isReadOnly = "EROFS"
        case hangs
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <sys/types.h>
        #include <time.h>
        #include <unistd.h>

        static volatile sig_atomic_t is_frozen, disk_error, disk_hangs;

        static void pause_a_little(void) {
            struct timespec moment = {0, 5000000};
            nanosleep(&moment, NULL);
        }

        /* Under another name while it hangs, so that the test can see it. */
        static void freeze(int signal) {
            int saved = errno;
            char name[16];
            prctl(PR_GET_NAME, name);
            prctl(PR_SET_NAME, "frozen");
            while (is_frozen) pause_a_little();
            prctl(PR_SET_NAME, name);
            errno = saved;
        }

        static void *obey(void *path) {
            char line[64];
            FILE *orders = fopen(path, "r+");
            while (orders && fgets(line, sizeof line, orders)) {
                if (!strncmp(line, "freeze ", 7)) {
                    is_frozen = 1;
                    syscall(SYS_tgkill, getpid(), atoi(line + 7), SIGPROF);
                } else if (!strcmp(line, "thaw\\n")) {
                    is_frozen = 0;
                } else if (!strncmp(line, "disk ", 5)) {
                    disk_error = !strcmp(line + 5, "ENOSPC\\n") ? ENOSPC
                        : !strcmp(line + 5, "EIO\\n") ? EIO : !strcmp(line + 5, "EROFS\\n") ? EROFS : 0;
                    disk_hangs = !strcmp(line + 5, "hangs\\n");
                }
            }
            return NULL;
        }

        __attribute__((constructor)) static void begin(void) {
            char *path = getenv("FAULT_SHIM");
            struct sigaction action = {.sa_handler = freeze, .sa_flags = SA_RESTART};
            sigset_t all, before;
            pthread_t thread;
            if (!path) return;
            /* Swift's threads block all signals but those of faults, and this one. */
            sigaction(SIGPROF, &action, NULL);
            sigfillset(&all);
            pthread_sigmask(SIG_BLOCK, &all, &before);
            pthread_create(&thread, NULL, obey, strdup(path));
            pthread_sigmask(SIG_SETMASK, &before, NULL);
        }

        /* Whether a call on this file is to fail; returns once the disk hangs no more. */
        static int fails(int file) {
            char link[64], path[512];
            ssize_t length;
            if (!disk_error && !disk_hangs) return 0;
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            if (!strstr(path, "/purser.db")) return 0;
            while (disk_hangs) pause_a_little();
            errno = disk_error;
            return disk_error != 0;
        }

        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

        ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
            return fails(file) ? -1 : REAL(pwrite64)(file, bytes, count, offset);
        }

        ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
            return fails(file) ? -1 : REAL(pwrite)(file, bytes, count, offset);
        }

        int fsync(int file) { return fails(file) ? -1 : REAL(fsync)(file); }

        int fdatasync(int file) { return fails(file) ? -1 : REAL(fdatasync)(file); }

        """

    private let library: String
    private let orders: String

    /// Compiles it into a folder.
    init(in folder: URL) async throws {
        library = try await PreloadedLibrary.compile(Self.source, named: "fault-shim", in: folder)
        orders = folder.appending(path: "fault-orders").path
        guard mkfifo(orders, 0o600) == 0 else {
            throw DaemonStage.Failure(description: "\(orders) cannot be made, error \(errno)")
        }
    }

    /// What a process needs in its environment to have these faults.
    var environment: [String: String] { ["LD_PRELOAD": library, "FAULT_SHIM": orders] }

    /// From now on, in a process that runs.
    func disk(_ disk: Disk) throws { try order("disk \(disk.rawValue)") }

    /// Lets every thread of a name hang where it stands, and waits until they do.
    ///
    /// - Returns: how many there are.
    @discardableResult
    func freeze(_ name: String, of process: pid_t) async throws -> Int {
        let threads = try Self.threads(of: process).filter { $0.value.contains(name) }
        for thread in threads.keys { try order("freeze \(thread)") }
        try await Wait.until("threads \(name) to hang") {
            let now = try Self.threads(of: process)
            // One that has ended meanwhile hangs no more.
            return threads.keys.allSatisfy { now[$0] == nil || now[$0] == "frozen" }
        }
        return threads.count
    }

    /// Lets all of them go on.
    func thaw() throws { try order("thaw") }

    private func order(_ text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: orders))
        defer { try? handle.close() }
        try handle.write(contentsOf: Data("\(text)\n".utf8))
    }

    /// The names of the threads of a process, by their ids.
    private static func threads(of process: pid_t) throws -> [String: String] {
        let folder = "/proc/\(process)/task"
        var names: [String: String] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            names[thread] = (try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8))?
                .trimmingCharacters(in: .newlines)
        }
        return names
    }
}
