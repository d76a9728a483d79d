import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Whoever writes is told the times that whoever reads is told, though the clock is finer than what is kept.
struct WrittenTimesTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000.1237)

    /// What one request writes and another one reads.
    enum Story: CaseIterable {
        case consent, consentAtATime, withdrawal
        case link, endedLink, movedLink
        case delivery, deliveryWithDeadline, queuedDelivery, cancelledDelivery
        case declinedCase
        case callerKey, revokedKey
        case backup
    }

    @Test(arguments: Story.allCases) func `what was answered is what is read afterwards`(story: Story) async throws {
        let fixture = try await RequestHandlerFixture(
            accounts: [[.sample(id: "1", account: "A")]], maximumBodyBytes: 4096, now: Self.now)
        let (written, read) = try await Requests(fixture: fixture).run(story)
        let times = Self.times(in: written)
        #expect(!times.isEmpty)
        #expect(times == Self.times(in: read))
    }

    /// The times of an answer, each with the way to it.
    private static func times(in value: JSONValue?, at way: String = "") -> [String: String] {
        func all(_ parts: [(way: String, value: JSONValue)]) -> [String: String] {
            parts.reduce(into: [:]) { $0.merge(times(in: $1.value, at: way + $1.way)) { first, _ in first } }
        }
        switch value {
        case .string(let text): return text.wholeMatch(of: /\d{4}-\d\d-\d\dT.*Z/) == nil ? [:] : [way: text]
        case .array(let values): return all(values.enumerated().map { ("[\($0.offset)]", $0.element) })
        case .object(let object): return all(object.members.map { (".\($0.key)", $0.value) })
        case nil, .null, .bool, .number: return [:]
        }
    }
}

/// Sends the requests of the stories.
private struct Requests {
    /// What was answered to who wrote, and to who read it afterwards.
    typealias Answers = (written: JSONValue?, read: JSONValue?)

    let fixture: RequestHandlerFixture
    private let app = "/v1/apps/coins"
    private let user = "/v1/apps/coins/users/alice"

    init(fixture: RequestHandlerFixture) { self.fixture = fixture }

    func run(_ story: WrittenTimesTests.Story) async throws -> Answers {
        switch story {
        case .consent: try await consent(isGiven: true)
        case .consentAtATime: try await consent(isGiven: true, #","at":"2023-11-14T20:00:00.1239Z""#)
        case .withdrawal: try await consent(isGiven: false)
        case .link: try await link()
        case .endedLink: try await endedLink()
        case .movedLink: try await link(of: "bob", thenBy: "?transfer=true")
        case .delivery: try await delivery()
        case .deliveryWithDeadline: try await delivery(#","deadline":"2023-11-14T23:00:00.1239Z""#)
        case .queuedDelivery: try await queuedDelivery()
        case .cancelledDelivery: try await cancelledDelivery()
        case .declinedCase: try await declinedCase()
        case .callerKey: try await callerKey(isRevoked: false)
        case .revokedKey: try await callerKey(isRevoked: true)
        case .backup: try await backup()
        }
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, _ body: String? = nil, headers: HTTPFields = [:],
        to handler: KeyPath<RequestHandlerFixture, RequestHandler> = \.handler
    ) async throws -> JSONValue {
        let reply = try await fixture.send(method, target, body: body, headers: headers, to: handler)
        #expect((200..<300).contains(reply.status), "\(method) \(target)")
        return try reply.json
    }

    private func consent(isGiven: Bool, _ more: String = "") async throws -> Answers {
        let written = try await send(.put, "\(user)/consent", #"{"consented":\#(isGiven),"source":"app"\#(more)}"#)
        return (written, try await send(.get, "\(user)/consent")["consent"])
    }

    /// Links a user, after another one if there is one.
    private func link(of other: String? = nil, thenBy query: String = "") async throws -> Answers {
        if let other { _ = try await send(.put, "\(app)/users/\(other)/links/transactionId/1") }
        let written = try await send(.put, "\(user)/links/transactionId/1\(query)")
        return (written, try await send(.get, "\(user)/links")["links"]?.array?.last)
    }

    private func endedLink() async throws -> Answers {
        _ = try await link()
        let written = try await send(.delete, "\(user)/links/transactionId/1")
        return (written, try await send(.get, "\(user)/links"))
    }

    private func answer(isAsynchronous: Bool, _ more: String = "") async throws -> (id: String, answered: JSONValue) {
        let answered = try await send(
            .post, "\(app)/transactions/1/consumption",
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false\#(more)}"#,
            headers: isAsynchronous ? [HTTPField.Name("Prefer") ?? .via: "respond-async"] : [:])
        return (try #require(answered["id"]?.string), answered)
    }

    private func delivery(_ more: String = "") async throws -> Answers {
        let (id, answered) = try await answer(isAsynchronous: false, more)
        return (answered, try await send(.get, "\(app)/deliveries/\(id)"))
    }

    private func queuedDelivery() async throws -> Answers {
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let (id, answered) = try await answer(isAsynchronous: true)
        return (answered, try await send(.get, "\(app)/deliveries/\(id)"))
    }

    /// One that waits for its next attempt, at a time that a random wait led to.
    private func cancelledDelivery() async throws -> Answers {
        fixture.gateway.failConsumption(with: ServiceError(.appleUnavailable, "Apple failed."))
        let (id, answered) = try await answer(isAsynchronous: true)
        let now = fixture.stack.services.clock.now()
        let waiting = try await fixture.stack.delivery(id) { $0.state == .queued && ($0.nextAttemptAt ?? now) > now }
        #expect(answered["createdAt"] == (try await send(.get, "\(app)/deliveries/\(id)")["createdAt"]))
        #expect(waiting.nextAttemptAt == waiting.nextAttemptAt?.roundedToMilliseconds)
        let written = try await send(.post, "\(app)/deliveries/\(id):cancel")
        return (written, try await send(.get, "\(app)/deliveries/\(id)"))
    }

    private func declinedCase() async throws -> Answers {
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        let listed = try await send(.get, "\(app)/cases")["cases"]?.array?.first?["id"]
        let id = try #require(listed?.string)
        let written = try await send(.post, "\(app)/cases/\(id):decline", "{}")
        return (written, try await send(.get, "\(app)/cases/\(id)"))
    }

    private func callerKey(isRevoked: Bool) async throws -> Answers {
        let body = #"{"app":"coins","publicKey":"PEM","scopes":["refunds:read"]}"#
        var written = try await send(.post, "/v1/callers/shop/keys", body, to: \.admin)
        if isRevoked {
            let id = try #require(written["keyId"]?.string)
            written = try await send(.delete, "/v1/callers/shop/keys/\(id)", to: \.admin)
        }
        let callers = try await send(.get, "/v1/callers", to: \.admin)["callers"]?.array
        return (written, callers?.first { $0["name"] == "shop" }?["keys"]?.array?.first)
    }

    /// Whoever opens a backup is told when it was made.
    private func backup() async throws -> Answers {
        let file = FileManager.default.temporaryDirectory.appending(path: "purser-times-\(UUID().uuidString).db").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let written = try await send(.post, "/v1/store:backup", #"{"path":"\#(file)"}"#, to: \.admin)
        let restored = try await ServiceStack(apps: RequestHandlerFixture.apps, backup: file)
        let copy = Requests(fixture: RequestHandlerFixture(restored, scopes: []))
        let released = try await copy.send(.post, "/v1/deliveries:release", to: \.admin)
        return (written["at"], released["hold"]?["since"])
    }
}
