import Foundation
import TestSupport
import Testing

/// Clocks that a test moves for one process alone, by a shared object that is loaded before the C library; the machine's clocks
/// stay as they are.
///
/// Source: ld.so(8), `LD_PRELOAD`; clock_gettime(2), timerfd_create(2)
struct ClockShim: Sendable {
    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <sys/timerfd.h>
        #include <time.h>
        #include <unistd.h>

        /* Nanoseconds: what the wall clock is ahead, what the boot clock is ahead, and where the wall clock stopped. */
        static volatile int64_t *clocks;
        static char is_boot_timer[65536];

        __attribute__((constructor)) static void open_clocks(void) {
            const char *path = getenv("CLOCK_SHIM");
            int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            if (file < 0) return;
            void *memory = mmap(NULL, 24, PROT_READ, MAP_SHARED, file, 0);
            close(file);
            if (memory != MAP_FAILED) clocks = memory;
        }

        static void set(struct timespec *time, int64_t nanoseconds) {
            time->tv_sec = nanoseconds / 1000000000;
            time->tv_nsec = nanoseconds % 1000000000;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = syscall(SYS_clock_gettime, clock, time);
            if (result != 0 || !clocks) return result;
            int64_t now = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
            if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
                set(time, clocks[2] ? clocks[2] : now + clocks[0]);
            if (clock == CLOCK_BOOTTIME) set(time, now + clocks[1]);
            return 0;
        }

        int gettimeofday(struct timeval *restrict time, void *restrict zone) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            time->tv_sec = now.tv_sec;
            time->tv_usec = now.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *result) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (result) *result = now.tv_sec;
            return now.tv_sec;
        }

        int timerfd_create(int clock, int flags) {
            int timer = syscall(SYS_timerfd_create, clock, flags);
            if (timer >= 0 && timer < 65536) is_boot_timer[timer] = clock == CLOCK_BOOTTIME;
            return timer;
        }

        /* The kernel's timers know nothing of this. */
        int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
            struct itimerspec moved = *value;
            int64_t end = (int64_t)value->it_value.tv_sec * 1000000000 + value->it_value.tv_nsec;
            if (clocks && (flags & TFD_TIMER_ABSTIME) && timer >= 0 && timer < 65536 && is_boot_timer[timer] && end)
                set(&moved.it_value, end > clocks[1] ? end - clocks[1] : 1);
            return syscall(SYS_timerfd_settime, timer, flags, &moved, old);
        }

        """

    private let library: String
    private let clocks: URL

    /// Compiles it into a folder.
    init(in folder: URL) async throws {
        library = try await PreloadedLibrary.compile(Self.source, named: "clock-shim", in: folder)
        clocks = folder.appending(path: "clocks")
        try Data(count: 24).write(to: clocks)
    }

    /// What a process needs in its environment to have these clocks.
    var environment: [String: String] { ["LD_PRELOAD": library, "CLOCK_SHIM": clocks.path] }

    /// Puts the wall clock so many seconds ahead of the right time, or behind; at once, also in a process that runs.
    func setWall(ahead seconds: Int64) throws { try set(wall: seconds * 1_000_000_000, boot: 0, stopped: 0) }

    /// Lets the wall clock show one moment for ever.
    func stopWall() throws {
        try set(wall: 0, boot: 0, stopped: Int64(Date().timeIntervalSince1970) * 1_000_000_000)
    }

    /// Lets both clocks go on as if the machine had slept so many seconds.
    func suspend(_ seconds: Int64) throws {
        try set(wall: seconds * 1_000_000_000, boot: seconds * 1_000_000_000, stopped: 0)
    }

    private func set(wall: Int64, boot: Int64, stopped: Int64) throws {
        let handle = try FileHandle(forWritingTo: clocks)
        defer { try? handle.close() }
        // In place: the process has mapped the file.
        try handle.write(contentsOf: [wall, boot, stopped].withUnsafeBytes { Data($0) })
    }
}
