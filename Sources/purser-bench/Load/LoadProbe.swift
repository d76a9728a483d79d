import Foundation

/// Sends requests from a file on a number of connections and times every answer by its status.
///
/// wrk cannot do either of what the rows need it for: different content in each request, and the times of the admitted
/// apart from those of the refused.
struct LoadProbe: Probe {
    static let name = "load"

    struct Outcome: Codable, Sendable {
        let seconds: Double
        /// How many answers of each status came.
        let answers: [Int: Int]
        /// Of successes, in milliseconds; 0 without any.
        let median: Double
        let percentile99: Double
        /// Requests whose time came while every connection was busy.
        let unsent: Int
        /// Connections that ended without an answer.
        let broken: Int

        var successes: Int { answers.filter { (200..<300).contains($0.key) }.map(\.value).reduce(0, +) }
        var total: Int { answers.values.reduce(0, +) }
        var successesPerSecond: Double { Double(successes) / seconds }
    }

    let port: Int
    /// A `RequestFile`.
    let requests: String
    let connections: Int
    /// The longest that it takes.
    let seconds: Double
    /// Requests a second, whether or not answers come; nil sends the next as soon as a connection is free.
    var rate: Double?
    /// Whether to begin again at the end of the file; otherwise the end of the file is the end.
    var repeats = false

    func run() async throws -> Outcome {
        var sender = LoadSender(plan: self, requests: try RequestFile.read(requests))
        return try sender.run()
    }
}
