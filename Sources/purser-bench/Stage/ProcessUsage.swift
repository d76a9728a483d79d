import Foundation

/// What a process has used so far.
struct ProcessUsage: Sendable {
    /// Memory that is really there, in bytes.
    let residentBytes: Double
    /// What of it is the process's own, and in no file that others share, in bytes.
    let anonymousBytes: Double
    /// Processor time in user and system mode, in seconds.
    let processorSeconds: Double
    /// The same of the threads that there are now, by their names without what tells them apart.
    let threadSeconds: [String: Double]

    /// Reads what the kernel says of a process.
    ///
    /// - Throws: `BenchError` when there is no such process.
    /// Source: proc_pid_stat(5), fields 14, 15 and 24; proc_pid_status(5), RssAnon
    init(of processID: pid_t) throws(BenchError) {
        guard let fields = Self.fields("/proc/\(processID)/stat"), let pages = Double(fields[21]),
            let seconds = Self.seconds(fields), let anonymous = Self.status(of: processID, "RssAnon")
        else { throw BenchError("process \(processID) is gone") }
        residentBytes = pages * Double(sysconf(Int32(_SC_PAGESIZE)))
        anonymousBytes = anonymous
        processorSeconds = seconds
        threadSeconds = Self.threads(of: processID)
    }

    /// Processor time alone.
    init(processorSeconds: Double, threadSeconds: [String: Double]) {
        (residentBytes, anonymousBytes) = (0, 0)
        self.processorSeconds = processorSeconds
        self.threadSeconds = threadSeconds
    }

    var residentMegabytes: Double { residentBytes / 1_000_000 }
    var anonymousMegabytes: Double { anonymousBytes / 1_000_000 }

    /// A line of the status of a process that is in kibibytes, in bytes; nil when there is none.
    static func status(of processID: pid_t, _ name: String) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return kibibytes * 1024
    }

    /// What the threads have used that there are now.
    ///
    /// Source: proc_pid_task(5), proc_pid_comm(5)
    private static func threads(of processID: pid_t) -> [String: Double] {
        let folder = "/proc/\(processID)/task"
        var seconds: [String: Double] = [:]
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            // A thread may have ended meanwhile.
            guard let comm = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8),
                let used = fields("\(folder)/\(thread)/stat").flatMap(Self.seconds)
            else { continue }
            seconds[kind(ofThread: comm), default: 0] += used
        }
        return seconds
    }

    /// A thread's name without its number, such as `NIO-ELT` of `NIO-ELT-1-#2`.
    static func kind(ofThread name: String) -> String {
        let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
        let kind = String(trimmed.reversed().drop { $0.isNumber || "-#".contains($0) }.reversed())
        return kind.isEmpty ? trimmed : kind
    }

    /// The fields from the third on.
    private static func fields(_ path: String) -> [Substring]? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            // The name, in parentheses, may hold spaces.
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 21
        else { return nil }
        return fields
    }

    private static func seconds(_ fields: [Substring]) -> Double? {
        guard let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
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
