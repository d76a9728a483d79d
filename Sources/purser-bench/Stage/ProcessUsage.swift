import Foundation

/// What a process has used so far.
struct ProcessUsage: Sendable {
    /// Memory that is really there, in bytes.
    let residentBytes: Double
    /// Processor time in user and system mode, in seconds.
    let processorSeconds: Double

    /// Reads what the kernel says of a process.
    ///
    /// - Throws: `BenchError` when there is no such process.
    /// Source: proc_pid_stat(5), fields 14, 15 and 24
    init(of processID: pid_t) throws(BenchError) {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
            // The name, in parentheses, may hold spaces.
            let rest = text.split(separator: ")").last?.split(separator: " "), rest.count > 21,
            let user = Double(rest[11]), let system = Double(rest[12]), let pages = Double(rest[21])
        else { throw BenchError("process \(processID) is gone") }
        residentBytes = pages * Double(sysconf(Int32(_SC_PAGESIZE)))
        processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    var residentMegabytes: Double { residentBytes / 1_000_000 }
}

/// Processor time of this process or of children that have ended, in seconds.
///
/// Source: getrusage(2)
func processorSeconds(ofChildren: Bool = false) -> Double {
    var usage = rusage()
    guard getrusage(ofChildren ? RUSAGE_CHILDREN.rawValue : RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
