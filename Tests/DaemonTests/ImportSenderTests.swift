import Foundation
import Synchronization
import Testing

@testable import Daemon

/// How batches go to the daemon, which is played here.
struct ImportSenderTests {
    /// A daemon that answers as it is told, and keeps what it was asked.
    private final class FakeDaemon: Sendable {
        struct Request {
            let target: String
            let isDryRun: Bool
            let users: [String]
        }

        private struct Body: Decodable {
            struct Item: Decodable { let user: String }
            let dryRun: Bool
            let links: [Item]
        }

        private let asked = Mutex<[Request]>([])
        private let pauses = Mutex<[Duration]>([])
        private let answer: @Sendable (_ number: Int, Request) throws -> (status: Int, body: String)

        init(_ answer: @escaping @Sendable (_ number: Int, Request) throws -> (status: Int, body: String)) {
            self.answer = answer
        }

        /// One that takes everything.
        convenience init() { self.init { _, request in (200, Self.created(request.users.count)) } }

        var requests: [Request] { asked.withLock(\.self) }
        var waits: [Duration] { pauses.withLock(\.self) }

        static func created(_ count: Int) -> String {
            let results = Array(repeating: #"{"outcome":"created"}"#, count: count).joined(separator: ",")
            return #"{"dryRun":false,"results":[\#(results)]}"#
        }

        func sender(isDryRun: Bool = false) -> ImportSender {
            ImportSender(
                .links,
                send: { [self] _, target, body, _ in
                    let read = try JSONDecoder().decode(Body.self, from: Data(body ?? []))
                    let request = Request(target: target, isDryRun: read.dryRun, users: read.links.map(\.user))
                    let number = asked.withLock { asked in
                        asked.append(request)
                        return asked.count
                    }
                    let (status, text) = try answer(number, request)
                    return AdminClient.Reply(status: status, body: Array(text.utf8))
                }, isDryRun: isDryRun, pause: { [self] wait in pauses.withLock { $0.append(wait) } })
        }
    }

    private static let problem = #"{"reason":"SOME_REASON","detail":"Something is wrong."}"#

    private func records(
        _ users: [String], app: String? = "coins", identity: Int? = nil, bytes: Int = 0
    ) -> ArraySlice<ImportRecord<ImportItem>> {
        users.enumerated().map { index, user in
            let json = #"{"user":"\#(user)"\#(String(repeating: " ", count: bytes))}"#
            let item = ImportItem(app: app, json: Array(json.utf8), identity: identity ?? index)
            return ImportRecord(line: index + 1, content: .success(item))
        }[...]
    }

    private func outcomes(_ results: ImportSender.Results) -> [String] {
        results.map { result in
            switch result {
            case .success(let outcome): outcome
            case .failure(let refusal): refusal.problems.map { "\($0.field) \($0.rule)" }.joined(separator: ",")
            }
        }
    }

    @Test func `each app has a request of its own, and lines keep their places`() async throws {
        let daemon = FakeDaemon()
        var sender = daemon.sender()
        var lines = records(["a", "b"]) + records(["c"], app: "ge ms") + records(["d"], app: nil)
        lines.append(ImportRecord(line: 9, content: .failure(.syntax("it is odd"))))
        let results = try await sender.submit(lines, defaultApp: nil)
        #expect(outcomes(results) == ["created", "created", "created", "app required", " syntax"])
        #expect(daemon.requests.map(\.target) == ["/v1/apps/coins/links:import", "/v1/apps/ge%20ms/links:import"])
        #expect(daemon.requests.map(\.users) == [["a", "b"], ["c"]])
        #expect(daemon.requests.map(\.isDryRun) == [false, false])
    }

    @Test func `a dry run tells again what it has foreseen of the same identifier`() async throws {
        let daemon = FakeDaemon()
        var sender = daemon.sender(isDryRun: true)
        for user in ["a", "b", "c"] {
            let results = try await sender.submit(records([user], identity: 7), defaultApp: nil)
            #expect(outcomes(results) == ["created"])
        }
        _ = try await sender.submit(records(["d"], identity: 8), defaultApp: nil)
        #expect(daemon.requests.map(\.users) == [["a"], ["a", "b"], ["a", "b", "c"], ["d"]])
        #expect(daemon.requests.map(\.isDryRun) == [true, true, true, true])
    }

    @Test func `what the daemon cannot take now is sent again`() async throws {
        let daemon = FakeDaemon { number, request in
            switch number {
            case 1: (503, Self.problem)
            case 2: throw AdminClientError.noAnswer("reset", mayHaveArrived: true)
            case 3: throw AdminClientError.notRunning("unix:/a")
            default: (200, FakeDaemon.created(request.users.count))
            }
        }
        var sender = daemon.sender()
        let results = try await sender.submit(records(["a"]), defaultApp: nil)
        #expect(outcomes(results) == ["created"])
        #expect(daemon.waits == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `a daemon that was never there is not waited for, and one that stays away only so long`() async throws {
        let absent = FakeDaemon { _, _ in throw AdminClientError.notRunning("unix:/a") }
        var sender = absent.sender()
        await #expect(throws: AdminClientError.notRunning("unix:/a")) {
            try await sender.submit(records(["a"]), defaultApp: nil)
        }
        #expect(absent.waits.isEmpty)
        let gone = FakeDaemon { number, request in
            if number > 1 { throw AdminClientError.notRunning("unix:/a") }
            return (200, FakeDaemon.created(request.users.count))
        }
        var second = gone.sender()
        _ = try await second.submit(records(["a"]), defaultApp: nil)
        await #expect(throws: AdminClientError.notRunning("unix:/a")) {
            try await second.submit(records(["b"]), defaultApp: nil)
        }
        #expect(gone.waits.count == 5)
    }

    @Test func `what is too much at once is halved, and one line that is too much is refused`() async throws {
        let daemon = FakeDaemon { _, request in
            request.users.count > 2 || request.users.contains("e")
                ? (413, Self.problem) : (200, FakeDaemon.created(request.users.count))
        }
        var sender = daemon.sender()
        let results = try await sender.submit(records(["a", "b", "c", "d", "e"]), defaultApp: nil)
        #expect(outcomes(results) == ["created", "created", "created", "created", " SOME_REASON"])
        let most = daemon.requests.last { $0.users.contains("a") }
        #expect(most?.users == ["a", "b"])
    }

    @Test func `a request holds no more than the daemon takes by default`() async throws {
        let daemon = FakeDaemon()
        var sender = daemon.sender()
        let results = try await sender.submit(records(["a", "b", "c"], bytes: 400_000), defaultApp: nil)
        #expect(results.count == 3)
        #expect(daemon.requests.map(\.users) == [["a"], ["b"], ["c"]])
    }

    @Test func `an unknown app refuses its lines, and any other refusal ends the run`() async throws {
        let unknown = FakeDaemon { _, _ in (404, Self.problem) }
        var sender = unknown.sender()
        let results = try await sender.submit(records(["a", "b"]), defaultApp: nil)
        #expect(outcomes(results) == ["app SOME_REASON", "app SOME_REASON"])
        let broken = FakeDaemon { _, _ in (500, Self.problem) }
        var second = broken.sender()
        await #expect(throws: ImportSenderError.self) {
            try await second.submit(records(["a"]), defaultApp: nil)
        }
        let short = FakeDaemon { _, _ in (200, FakeDaemon.created(1)) }
        var third = short.sender()
        await #expect(throws: AdminClientError.answerUnreadable) {
            try await third.submit(records(["a", "b"]), defaultApp: nil)
        }
    }
}
