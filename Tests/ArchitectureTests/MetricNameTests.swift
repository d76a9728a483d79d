import Foundation
import Testing

/// The metrics that documents and rules name are there, by the names that `/metrics` has.
struct MetricNameTests {
    @Test func `every metric that a document or a rule names is written`() throws {
        let written = try Self.writtenNames()
        #expect(written.contains("purser_http_requests_total") && written.contains("purser_sending_held"))
        var found = 0
        for file in try Repository.files(below: "docs") + Repository.files(below: "deploy") + ["README.md"] {
            for match in try Repository.text(file).matches(of: /\bpurser_[a-z][a-z_]*[a-z]\b/) {
                found += 1
                #expect(written.contains(String(match.0)), "\(file) names \(match.0)")
            }
        }
        #expect(found > 10)
    }

    @Test func `every metric has a text of help, and no text is left over`() throws {
        let help = try Repository.text("Sources/Daemon/Metrics/MetricsHelp.swift")
            .matches(of: /"(purser_[a-z_]+)":/).map { String($0.1) }
        let labels = try Self.labels().map(\.label)
        #expect(Set(help) == Set(labels))
    }

    /// What the labels become in the text for Prometheus: counters end with `_total`, timers are histograms.
    private static func writtenNames() throws -> Set<String> {
        Set(
            try labels().flatMap { maker, label in
                switch maker.lowercased() {
                case "counter", "counterset", "count": ["\(label)_total"]
                case "timer", "maketimer", "recorder": ["_bucket", "_sum", "_count"].map { label + $0 }
                default: [label]
                }
            })
    }

    /// The labels in the code, each with what is made of it: a call that the label is the first argument of.
    private static func labels() throws -> [(maker: String, label: String)] {
        try Repository.swiftFiles(below: "Sources").filter { !$0.hasSuffix("MetricsHelp.swift") }.flatMap { file in
            try Repository.text(file).matches(of: /([A-Za-z]+)\(\s*(?:label: )?"(purser_[a-z_]+)"/).map {
                (String($0.1), String($0.2))
            }
        }
    }
}
