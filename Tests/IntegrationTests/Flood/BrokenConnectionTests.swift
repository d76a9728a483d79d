import Foundation
import TestSupport
import Testing

/// The daemon releases the memory of broken connections.
///
/// `make broken-connections` plays ten rounds of 10,000 connections for each kind and listener. It sets BROKEN_CONNECTIONS,
/// BROKEN_LISTENERS and BROKEN_KINDS.
@Suite(.serialized) struct BrokenConnectionTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["BROKEN_CONNECTIONS"].flatMap { Int($0) }

    private static func chosen(_ variable: String) -> [String] {
        (environment[variable] ?? "").split(separator: " ").map(String.init)
    }

    @Test(.enabled(if: count != nil, "played by `make broken-connections`"))
    func `memory grows by at most 2 MB between the second and the tenth round of broken connections`() async throws {
        let (listeners, names) = (Self.chosen("BROKEN_LISTENERS"), Self.chosen("BROKEN_KINDS"))
        var played = 0
        for listener in ["api", "webhook", "health", "appleProduction", "grpc"]
        where listeners.isEmpty || listeners.contains(listener) {
            for kind in BrokenConnection.kinds(of: listener) where names.isEmpty || names.contains(kind.name) {
                let memory = try await Self.memory(kind, at: listener, rounds: 10, of: Self.count ?? 1)
                played += 1
                let growth = memory[9] - memory[1]
                print("\(listener) \(kind): \(growth) KB from the second round to the tenth, of \(memory)")
                #expect(growth <= 2048, "\(listener) \(kind): \(memory)")
            }
        }
        #expect(played > 0, "BROKEN_LISTENERS or BROKEN_KINDS names nothing that exists")
    }

    @Test(
        .enabled(if: count == nil, "`make broken-connections` opens more of them"),
        arguments: [
            "unfinished-call", "rapid-reset", "rapid-reset-and-error", "continuations", "settings", "empty-data",
            "window-overflow", "open-reset", "two-reads",
        ])
    func `the daemon releases the memory of broken gRPC connections`(name: String) async throws {
        let kind = try #require(BrokenConnection.kinds(of: "grpc").first { $0.name == name })
        let memory = try await Self.memory(kind, at: "grpc", rounds: 3, of: 200)
        // A leak of 20 KB per connection adds 8 MB.
        #expect(memory[2] - memory[0] <= 3 << 10, "\(memory)")
    }

    /// The anonymous memory of a daemon after each round of broken connections, in KB.
    private static func memory(
        _ kind: BrokenConnection, at listener: String, rounds: Int, of count: Int
    ) async throws -> [Int] {
        var settings = DaemonStage.Settings()
        settings.apiHasPort = true
        settings.ports = ["grpc", "health", "appleProduction"]
        return try await DaemonStage.with(settings) { stage in
            let daemon = try await stage.start()
            let connections = BrokenConnections(
                kind: kind, port: stage.port(of: listener), question: BrokenConnection.question(for: listener))
            // The daemon may open files and connections to Apple during the rounds.
            let descriptors = (Footprint.now(of: daemon.processID).descriptors ?? 0) + 8
            var memory: [Int] = []
            for _ in 0..<rounds {
                _ = await connections.open(count)
                // Nil where the descriptors of the process cannot be read.
                try await Wait.until("the connections to end") {
                    (Footprint.now(of: daemon.processID).descriptors ?? 0) <= descriptors
                }
                memory.append(Footprint.now(of: daemon.processID).anonymousKilobytes)
            }
            #expect(daemon.process.status == nil, "the daemon ended:\n\(daemon.log.text.suffix(2000))")
            _ = try await daemon.terminate()
            return memory
        }
    }
}
