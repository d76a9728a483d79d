import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import Logging
import TestSupport
import Testing

/// Who acts at the operators' listener: the peer's user id, with the name that it claims.
struct OperatorTests {
    private static let field: HTTPField.Name = HTTPField.Name("Purser-Operator") ?? .via
    private static let operator1000 = PeerIdentity(unixPeer: .init(uid: 1000, gid: 100))

    /// What the access log says of one request.
    private func lines(
        _ identity: PeerIdentity, as name: String?, to handler: KeyPath<RequestHandlerFixture, RequestHandler>,
        _ target: String = "/healthz", status: Int
    ) async throws -> [String: String] {
        let log = RecordedLog()
        let fixture = try await RequestHandlerFixture(logger: log.logger)
        var headers: HTTPFields = [:]
        headers[Self.field] = name
        let reply = try await fixture.send(.get, target, headers: headers, provenBy: identity, to: handler)
        #expect(reply.status == status)
        return try #require(log.lines("Request answered").first).metadata
    }

    @Test func `the access log tells of an operator by its user id, and of the name that it claims`() async throws {
        let named = try await lines(Self.operator1000, as: "alice@example.com", to: \.admin, status: 200)
        #expect(named["actor"] == "operator:1000")
        #expect(named["claimed_name"] == "alice@example.com")
        let root = try await lines(
            PeerIdentity(unixPeer: .init(uid: 0, gid: 0)), as: nil, to: \.admin, status: 200)
        #expect(root["actor"] == "operator:0")
        #expect(root["claimed_name"] == nil)
    }

    @Test(arguments: [
        "", "a b", "alice\tbob", "ålice", "a/b", "operator:0", "<script>", String(repeating: "a", count: 65),
    ])
    func `a name that could be mistaken for something else is refused`(name: String) async throws {
        let fixture = try await RequestHandlerFixture()
        var headers: HTTPFields = [:]
        headers[Self.field] = name
        let reply = try await fixture.send(
            .get, "/healthz", headers: headers, provenBy: Self.operator1000, to: \.admin)
        #expect(reply.status == 400)
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(text.contains("Purser-Operator"))
        #expect(text.contains("--as") || !name.utf8.allSatisfy { $0 < 0x80 }, "the hint of every other rule")
    }

    @Test func `a connection of which the kernel says nothing is no operator's`() async throws {
        let line = try await lines(PeerIdentity(), as: nil, to: \.admin, status: 500)
        #expect(line["actor"] == nil)
        #expect(line["cause"] == "an operator without peer credentials")
    }

    @Test func `at other listeners the name means nothing`() async throws {
        let line = try await lines(Self.operator1000, as: "a b", to: \.handler, "/v1/apps", status: 200)
        #expect(line["actor"] == nil)
        #expect(line["claimed_name"] == nil)
        #expect(line["caller"] == "billing")
    }
}
