import Foundation
import Listener
import TestSupport
import Testing

/// How often a caller's token is in the memory of a daemon, in use and freed.
@Suite(
    .enabled(
        if: ProcessMemory.seesOthers, "only who may trace any process sees the memory of one that shuts others out"))
struct TokenMemoryTests {
    /// The most copies: in header fields of requests, and in what the allocator has freed of them.
    private static let maximumCopies = 12

    private static func makeToken() -> String {
        "prs_" + UUID().uuidString.replacing("-", with: "") + UUID().uuidString.prefix(8)
    }

    /// How often it is there, without the first characters, which are no secret.
    private func copies(of token: String, in daemon: DaemonProcess) throws -> Int {
        try ProcessMemory(of: daemon.processID).places(of: Array(token.utf8.dropFirst(12))).count
    }

    @Test(arguments: [true, false]) func `copies of a token do not grow with requests, be it right or wrong`(
        isRight: Bool
    ) async throws {
        let token = Self.makeToken()
        let callers = ["billing": isRight ? token : Self.makeToken()]
        try await DaemonStage.with(.init(callers: callers)) { stage in
            let daemon = try await stage.start()
            #expect(try copies(of: token, in: daemon) == 0)
            let client = LocalClient(socket: stage.socket("api"), headers: ["Authorization": "Bearer \(token)"])
            for count in [20, 300] {
                for _ in 0..<count {
                    // Each has a connection of its own.
                    let reply = try #require(await client.send("GET", "/v1/apps/coins/cases"))
                    #expect(isRight ? reply.status == 200 : [401, 429].contains(reply.status))
                }
                let found = try copies(of: token, in: daemon)
                #expect(found <= Self.maximumCopies, "\(found) copies after \(count) requests")
            }
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `copies of a token do not grow with calls of gRPC`() async throws {
        let token = Self.makeToken()
        try await DaemonStage.with(.init(callers: ["billing": token])) { stage in
            let daemon = try await stage.start()
            try await GRPCProbe.with(.unix(path: stage.socket("grpc")), token: token) { grpc in
                for count in [20, 300] {
                    for _ in 0..<count {
                        #expect(try await grpc.call("ListCases", #"{"app":"coins"}"#).code == "OK")
                    }
                    let found = try copies(of: token, in: daemon)
                    #expect(found <= Self.maximumCopies, "\(found) copies after \(count) calls")
                }
            }
            #expect(try await daemon.terminate() == 0)
        }
    }
}
