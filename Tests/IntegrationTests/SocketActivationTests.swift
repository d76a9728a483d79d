import Foundation
import Synchronization
import TestSupport
import Testing

/// Sockets that the service manager holds, so that daemons can come and go behind them.
struct SocketActivationTests {
    /// What became of requests that go on all the time.
    private final class Tally: Sendable {
        let answered = Atomic(0)
        let lost = Mutex<[String]>([])
        let isOver = Atomic(false)
    }

    @Test func `restarts under load refuse no connection and lose no request`() async throws {
        try await DaemonStage.with { stage in
            let socket = try UnixSocket.bound(to: stage.socket("api"))
            defer { close(socket) }
            let tally = Tally()
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { await ask(stage.api(), tally) } }
                for _ in 0..<4 {
                    let daemon = try stage.launch(sockets: [("api", socket)])
                    #expect(try await daemon.isReady, "\(daemon.log.text.suffix(2000))")
                    let before = tally.answered.load(ordering: .relaxed)
                    try await Wait.until("requests to be answered") {
                        tally.answered.load(ordering: .relaxed) >= before + 20
                    }
                    #expect(try await daemon.terminate() == 0)
                    #expect(FileManager.default.fileExists(atPath: stage.socket("api")))
                }
                tally.isOver.store(true, ordering: .relaxed)
                // Those that wait in the socket's queue.
                let last = try stage.launch(sockets: [("api", socket)])
                try await group.waitForAll()
                _ = try await last.terminate()
            }
            #expect(tally.lost.withLock(\.self) == [])
        }
    }

    @Test func `what is handed over under a name that no listener has is refused`() async throws {
        try await DaemonStage.with { stage in
            let (socket, _) = try LoopbackSocket.listening()
            defer { close(socket) }
            let daemon = try stage.launch(sockets: [("purser.socket", socket)])
            #expect(try await daemon.ended == 78)
            #expect(daemon.log.text.contains("no listener has this name"))
        }
    }

    private func ask(_ client: LocalClient, _ tally: Tally) async {
        while !tally.isOver.load(ordering: .relaxed) {
            let reply = await client.send("GET", "/v1/apps/coins/deliveries")
            if reply?.status == 200 {
                tally.answered.add(1, ordering: .relaxed)
            } else {
                tally.lost.withLock { $0.append(reply.map { "\($0.status)" } ?? "no answer") }
            }
        }
    }
}
