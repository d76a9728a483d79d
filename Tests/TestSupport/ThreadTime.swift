import Glibc

/// The processor time of a thread, which is the same on a busy machine.
package enum ThreadTime {
    /// What the current thread has taken so far, in seconds.
    package static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
