import Foundation
import Systemd
import Testing

@Suite struct ProcessHardeningTests {
    /// In a process of its own: neither setting can be taken back.
    @Test func theKernelNoLongerDumpsTheProcess() async {
        await #expect(processExitsWith: .success) {
            #expect(!ProcessHardening.coreDumpsAreDisabled)
            try ProcessHardening.disableCoreDumps()
            #expect(ProcessHardening.coreDumpsAreDisabled)
            let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
            let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
        }
    }
}
