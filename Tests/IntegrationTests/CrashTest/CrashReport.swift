/// How a run went, for people; the last line is for whoever reads only that.
struct CrashReport: Sendable, CustomStringConvertible {
    let seed: UInt64
    let kills: Int
    let comparison: CrashComparison
    /// Further lines, such as how many requests were repeated.
    let details: [String]
    /// What is known about what the findings are about.
    var circumstances: [String] = []

    /// The most findings that are spelt out.
    static let longestList = 50

    var description: String {
        var lines = ["seed=\(seed)"] + details
        let states = comparison.states.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.append(states.joined(separator: " "))
        lines += comparison.findings.prefix(Self.longestList).map {
            "\($0.fault.rawValue): \($0.subject): \($0.detail)"
        }
        lines += circumstances
        let others = CrashComparison.Fault.allCases.filter { !Self.inLastLine.contains($0) }
        lines.append(others.map(figure).joined(separator: " "))
        let last =
            ["kills=\(kills)", "deliveries=\(comparison.deliveries)"] + Self.inLastLine.map(figure)
        lines.append(last.joined(separator: " "))
        return lines.joined(separator: "\n")
    }

    private static let inLastLine: [CrashComparison.Fault] = [.lost, .late, .unconsented, .twice]

    private func figure(_ fault: CrashComparison.Fault) -> String {
        "\(fault.rawValue)=\(comparison.count(fault))"
    }
}
