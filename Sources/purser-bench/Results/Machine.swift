import Foundation

/// What the figures were measured on.
struct Machine: Sendable, Encodable {
    let processor: String
    let cores: Int
    let kernel: String
    let date: Date
    let isOptimised: Bool

    /// This machine, now.
    init() {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":", maxSplits: 1).last
        processor = model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        cores = ProcessInfo.processInfo.processorCount
        let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        kernel = release.map { "Linux \($0.trimmingCharacters(in: .whitespacesAndNewlines))" } ?? "Linux"
        date = Date()
        isOptimised = Build.isOptimised
    }

    /// The machine in one line.
    var line: String { "\(processor), \(cores) cores, \(kernel), \(date.formatted(.iso8601))" }
}

/// How this program was built.
enum Build {
    #if DEBUG
    static let isOptimised = false
    #else
    static let isOptimised = true
    #endif

    /// What the table says besides.
    static let warning = isOptimised ? "" : "; BUILT FOR DEBUGGING: these figures mean nothing"
}
