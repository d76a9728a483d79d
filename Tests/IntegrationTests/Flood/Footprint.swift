import Foundation
import Synchronization

/// Watches how much a process takes, from a thread of its own.
final class Footprint: Sendable {
    /// The most that was seen.
    struct Peak: Sendable {
        /// Memory that comes from no file (`RssAnon` of proc_pid_status(5)).
        var anonymousKilobytes = 0
        /// Open descriptors; nil where the process lets nobody look.
        var descriptors: Int?
    }

    private let state = Mutex((peak: Peak(), isOver: false))

    init(of processID: pid_t) {
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isOver }) {
                look(at: processID)
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// Stops watching.
    ///
    /// - Returns: the most that was seen.
    func stop() -> Peak {
        state.withLock { state in
            state.isOver = true
            return state.peak
        }
    }

    private func look(at processID: pid_t) {
        let now = Self.now(of: processID)
        state.withLock { state in
            state.peak.anonymousKilobytes = max(state.peak.anonymousKilobytes, now.anonymousKilobytes)
            state.peak.descriptors = [state.peak.descriptors, now.descriptors].compactMap(\.self).max()
        }
    }

    /// The current memory and descriptors of a process.
    static func now(of processID: pid_t) -> Peak {
        Peak(anonymousKilobytes: anonymousKilobytes(of: processID), descriptors: descriptors(of: processID))
    }

    private static func anonymousKilobytes(of processID: pid_t) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { Int($0.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]) } ?? 0
    }

    private static func descriptors(of processID: pid_t) -> Int? {
        guard let folder = opendir("/proc/\(processID)/fd") else { return nil }
        defer { closedir(folder) }
        // Without the folder and the one above it.
        var count = -2
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
