import Foundation
import JSON
import Listener
import Synchronization
import TestSupport
import Testing

@testable import GRPCAPI

/// A client of gRPC, with what its calls come to.
struct GRPCProbe: Sendable {
    /// What a call came to.
    struct Reply: Sendable {
        let code: String
        let message: String
        let metadata: [String: String]
        let trailers: [String: String]
        /// The answers, as JSON.
        let answers: [JSONValue]

        var answer: JSONValue? { answers.first }
        var requestID: String? { metadata["x-request-id"] ?? trailers["x-request-id"] }

        /// The problem among the details; nil where there is none.
        let problem: JSONValue?
    }

    let client: CallClient
    private let authorization: String?

    /// Lends a client to a closure.
    static func with<Result: Sendable>(
        _ address: BoundAddress, token: String? = DaemonFixture.token, authorities: String? = nil,
        identity: (chain: String, key: String)? = nil, _ body: (GRPCProbe) async throws -> Result
    ) async throws -> Result {
        let target: CallClient.Target.Address =
            switch address {
            // By name, as the certificates of tests have it.
            case .tcp(_, let port): .tcp(host: authorities == nil ? "127.0.0.1" : "localhost", port: port)
            case .unix(let path): .unix(path: path)
            }
        return try await CallClient.with(.init(target, authorities: authorities, identity: identity)) { client in
            try await body(GRPCProbe(client: client, authorization: token.map { "Bearer \($0)" }))
        }
    }

    /// Calls a method with JSON.
    func call(
        _ method: String, _ json: String, _ more: [String: String] = [:], timeout: Duration? = nil,
        taking take: @escaping @Sendable (JSONValue) async throws -> Void = { _ in }
    ) async throws -> Reply {
        let answers = Mutex<[JSONValue]>([])
        let ending = try await client.call(
            method, json: Array(json.utf8), metadata: metadata(more), timeout: timeout,
            // What a message cannot hold is left out, as a client's stubs leave it out.
            isStrict: false
        ) { bytes in
            let answer = try JSONValue(parsing: bytes)
            answers.withLock { $0.append(answer) }
            try await take(answer)
        }
        return Reply(
            code: ending.code, message: ending.message, metadata: Self.dictionary(ending.metadata),
            trailers: Self.dictionary(ending.trailers),
            answers: answers.withLock(\.self), problem: try ending.problem.map { try JSONValue(parsing: $0) })
    }

    /// Calls a method until it is answered: a daemon with limits of its own closes a connection that says nothing for long, as that
    /// of a client on a busy machine, which then rests before it connects again.
    func answered(_ method: String, _ json: String, _ more: [String: String] = [:]) async throws -> Reply {
        let answer = Mutex<Reply?>(nil)
        try await Wait.until("an answer to \(method)") {
            let reply = try await call(method, json, more)
            guard reply.code != "UNAVAILABLE" else { return false }
            answer.withLock { $0 = reply }
            return true
        }
        let reply = answer.withLock { $0 }
        return try #require(reply)
    }

    /// Calls a method with any bytes.
    func send(_ path: String, _ message: [UInt8], _ more: [String: String] = [:]) async throws -> (
        code: String, message: String, answers: [[UInt8]]
    ) {
        let answers = Mutex<[[UInt8]]>([])
        let ending = try await client.call(path, message, metadata: metadata(more)) { bytes in
            answers.withLock { $0.append(bytes) }
        }
        return (ending.code, ending.message, answers.withLock(\.self))
    }

    private func metadata(_ more: [String: String]) -> [(name: String, value: String)] {
        more.map { ($0.key, $0.value) } + [authorization.map { ("authorization", $0) }].compactMap(\.self)
    }

    private static func dictionary(_ metadata: [(name: String, value: String)]) -> [String: String] {
        Dictionary(metadata.map { ($0.name, $0.value) }) { first, _ in first }
    }
}
