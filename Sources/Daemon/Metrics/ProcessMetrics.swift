import Foundation
import HTTPAPI

/// What the kernel says of this process, read when it is asked for.
///
/// Source: proc_pid_stat(5); names as in Prometheus' client libraries.
package struct ProcessMetrics: Sendable {
    /// A metric that is ready to be sent.
    struct Sample {
        let name: String
        let text: String

        init(_ name: String, _ type: MetricType, _ help: String, _ value: Double, _ format: MetricsFormat) {
            var text = PrometheusText(format)
            text.write(name: name, type: type, help: help, ["": value])
            self.name = name
            self.text = text.text
        }
    }

    private let folder: String
    private let bootTime: TimeInterval

    /// Looks at this process.
    package init() { self.init(folder: "/proc/self", bootTime: Self.currentBootTime()) }

    /// Looks at the process of a folder.
    ///
    /// - Parameters:
    ///   - folder: the process's folder under `/proc`.
    ///   - bootTime: when the system started, in UNIX seconds.
    init(folder: String, bootTime: TimeInterval) {
        self.folder = folder
        self.bootTime = bootTime
    }

    /// What can be read; what the system hides is left out.
    func samples(_ format: MetricsFormat = .prometheus) -> [Sample] {
        var samples: [Sample] = []
        if let entries = try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd") {
            samples.append(Sample("process_open_fds", .gauge, "Open file descriptors.", Double(entries.count), format))
        }
        guard let statistics = try? String(contentsOfFile: folder + "/stat", encoding: .utf8) else { return samples }
        // The second field, the program's name in parentheses, may itself hold blanks and parentheses.
        let fields = (statistics.split(separator: ")").last ?? "").split(separator: " ").dropFirst().map(Double.init)
        // Here are the fields from the fourth on, so that a field's index is its number in the manual less four.
        func field(_ number: Int) -> Double? { fields.indices.contains(number - 4) ? fields[number - 4] : nil }
        let ticksPerSecond = Double(sysconf(CInt(_SC_CLK_TCK)))
        if let user = field(14), let system = field(15) {
            samples.append(
                Sample(
                    "process_cpu_seconds_total", .counter, "Processor time used, by us and by the kernel for us.",
                    (user + system) / ticksPerSecond, format))
        }
        if let start = field(22) {
            samples.append(
                Sample(
                    "process_start_time_seconds", .gauge, "When the process started, in UNIX seconds.",
                    bootTime + start / ticksPerSecond, format))
        }
        if let pages = field(24) {
            let bytes = pages * Double(sysconf(CInt(_SC_PAGESIZE)))
            samples.append(Sample("process_resident_memory_bytes", .gauge, "Resident memory.", bytes, format))
        }
        return samples
    }

    /// From two clocks, since `/proc/stat` is hidden from a service under `ProcSubset=pid`.
    private static func currentBootTime() -> TimeInterval {
        Date().timeIntervalSince1970 - ProcessInfo.processInfo.systemUptime
    }
}
