import Glibc

/// Descriptors that no listener takes, so that the rest of the process has some when there are as many connections as there can be.
///
/// Files and calls to Apple need some; and libdispatch, which counts its running threads in `/proc/self/task` every second, ends the
/// process when it cannot open what it reads there.
enum DescriptorHeadroom {
    /// How many there are; fewer where the limit of the process is small.
    private static let count: CInt = 64

    /// Whether there is more than the headroom.
    ///
    /// The kernel gives the lowest number that is free, so that one look tells: those below the headroom are all in use when the
    /// lowest is in it. That leaves the headroom to others even when numbers below come free and are taken again.
    static var isLeft: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard lowest >= 0 else { return errno != EMFILE && errno != ENFILE }
        close(lowest)
        let bound = CInt(clamping: limit.rlim_cur)
        return lowest < bound - min(count, bound / 4)
    }
}
