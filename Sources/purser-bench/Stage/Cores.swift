import Foundation

/// Which core does what, so that load and service do not take each other's time.
struct Cores: Sendable {
    /// Runs what is measured, and its reference.
    let service: Int
    /// Runs load generators and what stands for Apple.
    let load: Int

    /// Takes the first and the last core that this process may run on.
    ///
    /// - Throws: `BenchError` when they are the same.
    init() throws(BenchError) {
        let allowed = Self.allowed()
        guard let first = allowed.first, let last = allowed.last, first != last else {
            throw BenchError("two cores are needed, one for the service and one for the load")
        }
        service = first
        load = last
    }

    /// The cores that this process may run on.
    ///
    /// Source: proc_pid_status(5), `Cpus_allowed_list`, such as `0-3,8`
    private static func allowed() -> [Int] {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let name = "Cpus_allowed_list:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return [] }
        return line.dropFirst(name.count).split(separator: ",").flatMap { range in
            let bounds = range.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
            guard let first = bounds.first, let last = bounds.last, first <= last else { return [Int]() }
            return Array(first...last)
        }
    }
}
