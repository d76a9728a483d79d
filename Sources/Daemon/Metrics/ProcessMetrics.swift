import Foundation

/// What the kernel says of this process, read when it is asked for.
///
/// Source: proc(5); names as in Prometheus' client libraries.
package struct ProcessMetrics: Sendable {
    private let start = Date().timeIntervalSince1970

    package init() {}

    func write(to text: inout PrometheusText) {
        text.gauge("process_start_time_seconds", "Start of the process, UNIX time.", start)
        if let pages = Self.residentPages() {
            text.gauge(
                "process_resident_memory_bytes", "Resident memory.", Double(pages * sysconf(Int32(_SC_PAGESIZE))))
        }
        if let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            text.gauge("process_open_fds", "Open file descriptors.", Double(entries.count))
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = [usage.ru_utime, usage.ru_stime].reduce(0.0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
            }
            text.gauge("process_cpu_seconds_total", "Processor time used.", seconds, type: "counter")
        }
    }

    private static func residentPages() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]) : nil
    }
}
