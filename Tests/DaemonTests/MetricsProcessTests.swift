import Foundation
import Testing

@testable import Daemon

struct MetricsProcessTests {
    @Test func `the kernel's numbers are read, whatever the program is called`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-proc-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "fd"), withIntermediateDirectories: true)
        for descriptor in 0..<3 { try Data().write(to: folder.appending(path: "fd/\(descriptor)")) }
        // Fields 14 and 15 are processor times, 22 the start, in ticks; 24 is resident pages.
        let statistics =
            "4711 (a) b (c) S 1 1 1 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 4 0 1000 9999999 42 18446744 1 1\n"
        try Data(statistics.utf8).write(to: folder.appending(path: "stat"))
        let ticks = Double(sysconf(CInt(_SC_CLK_TCK)))
        let text = ProcessMetrics(folder: folder.path, bootTime: 5_000).samples().map(\.text).joined()
        let values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
        #expect(
            Dictionary(uniqueKeysWithValues: values.map { (String($0[0]), Double($0[1])) }) == [
                "process_open_fds": 3, "process_cpu_seconds_total": 300 / ticks,
                "process_start_time_seconds": 5_000 + 1000 / ticks,
                "process_resident_memory_bytes": Double(42 * sysconf(CInt(_SC_PAGESIZE))),
            ])
        #expect(text.contains("# TYPE process_cpu_seconds_total counter\n"))
    }

    @Test func `of this process all four are known`() {
        let lines = PrometheusRegistry(help: [:]).render().split(separator: "\n").filter { !$0.hasPrefix("#") }
        let names = lines.filter { Double($0.split(separator: " ")[1]).map { $0 >= 0 } == true }.map {
            String($0.split(separator: " ")[0])
        }
        #expect(
            names == [
                "process_cpu_seconds_total", "process_open_fds", "process_resident_memory_bytes",
                "process_start_time_seconds",
            ])
    }

    @Test func `what the system hides is left out`() {
        #expect(ProcessMetrics.none.samples().isEmpty)
    }
}
