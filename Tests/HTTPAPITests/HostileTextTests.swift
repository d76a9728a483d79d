import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import HTTPAPI

/// Requests whose text would cost the square of its length, were it hashed or compared as a `String`.
///
/// Before, each took seconds to minutes; the time limit ends what does so again. `make instructions-hostile` counts.
@Suite(.endsHangs) struct HostileTextTests {
    private static let marks = HostileText.allCases.filter(\.isMarks)
    private static let others = HostileText.allCases.filter { !$0.isMarks }

    private func violation(_ reply: RequestHandlerFixture.Reply) throws -> (field: String?, rule: String?) {
        let violation = try reply.json["violations"]?[0]
        return (violation?["field"]?.string, violation?["rule"]?.string)
    }

    private static func encoded(_ text: String) throws -> String {
        try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    }

    private func fixture() async throws -> RequestHandlerFixture {
        RequestHandlerFixture(
            try await ServiceStack(apps: RequestHandlerFixture.apps), scopes: Set(Scope.allCases),
            maximumBodyBytes: 1 << 20)
    }

    @Test(arguments: HostileText.allCases)
    func `a long member name is rejected at the webhook and at the API`(shape: HostileText) async throws {
        let body = #"{"\#(shape.text(bytes: 256 << 10))":1}"#
        let fixture = try await fixture()
        let posted = try await fixture.send(.post, "/webhooks/apple/coins", body: body, token: nil, to: \.webhook)
        #expect(posted.status == 400)
        #expect(try violation(posted).rule == "name")
        let sent = try await fixture.send(.post, "/v1/apps/coins/signedData:verify", body: body)
        #expect(sent.status == 400)
        #expect(try violation(sent).rule == "name")
        #expect(sent.body.count < 2000, "the name is not repeated as a whole")
    }

    @Test(arguments: HostileText.allCases)
    func `a long value is rejected, naming its field`(shape: HostileText) async throws {
        let text = shape.text(bytes: 256 << 10)
        let fixture = try await fixture()
        let sent = try await fixture.send(
            .post, "/v1/apps/coins/transactions/1/consumption",
            body: #"{"customerConsented":true,"deliveryStatus":"\#(text)","sampleContentProvided":true}"#)
        #expect(sent.status == 400)
        #expect(try violation(sent).field == "deliveryStatus")
        #expect(try violation(sent).rule == (shape.isMarks ? "characters" : "enum"))
    }

    @Test(arguments: marks) func `so is one that is written with escapes, and a name within an object`(
        shape: HostileText
    ) async throws {
        let escaped = shape.text(bytes: 1 << 10).unicodeScalars
            .map { "\\u" + String(String(0x1_0000 + $0.value, radix: 16).dropFirst()) }.joined()
        let fixture = try await fixture()
        for (body, field) in [(#"{"a":{"b":"\#(escaped)"}}"#, "a.b"), (#"{"a":[{"b":"\#(escaped)"}]}"#, "a.b")] {
            let sent = try await fixture.send(.post, "/v1/apps/coins/signedData:verify", body: body)
            #expect(sent.status == 400)
            #expect(try violation(sent).field == field)
            #expect(try violation(sent).rule == "characters")
        }
        let named = try await fixture.send(.post, "/v1/apps/coins/signedData:verify", body: #"{"a":{"\#(escaped)":1}}"#)
        #expect(try violation(named).rule == "name")
    }

    @Test func `a member name may have 128 bytes`() async throws {
        let fixture = try await fixture()
        for (count, rule) in [(128, "unknownField"), (129, "name")] {
            let name = String(repeating: "n", count: count)
            let sent = try await fixture.send(.put, "/v1/apps/coins/users/u/consent", body: #"{"\#(name)":1}"#)
            #expect(sent.status == 400)
            let violations = try sent.json["violations"]?.array ?? []
            #expect(violations.contains { $0["rule"]?.string == rule }, "\(count)")
        }
    }

    @Test func `a body may have so many values and an object so many members`() async throws {
        let fixture = try await fixture()
        func sent(_ body: String) async throws -> (field: String?, rule: String?) {
            let reply = try await fixture.send(.post, "/v1/apps/coins/signedData:verify", body: body)
            #expect(reply.status == 400)
            return try violation(reply)
        }
        let members = (0...FieldValue.maximumMembers).map { #""\#($0)":0"# }
        #expect(try await sent("{\(members.dropLast().joined(separator: ","))}").rule == "required")
        #expect(try await sent("{\(members.joined(separator: ","))}") == ("body", "count"))
        #expect(try await sent(#"{"a":{\#(members.joined(separator: ","))}}"#) == ("a", "count"))
        let values = Array(repeating: "0", count: FieldValue.maximumValues).joined(separator: ",")
        #expect(try await sent(#"{"a":[\#(values)]}"#) == ("body", "count"))
    }

    @Test func `an error names so many violations`() async throws {
        let members = (0..<FieldValue.maximumMembers).map { #""\#($0)":0"# }.joined(separator: ",")
        let reply = try await fixture().send(.post, "/v1/apps/coins/signedData:verify", body: "{\(members)}")
        #expect(try reply.json["violations"]?.array?.count == ServiceError.maximumViolations)
        #expect(try reply.json["detail"]?.string?.utf8.count ?? 0 < 500)
        let items = Array(repeating: "{}", count: 5000).joined(separator: ",")
        let signed = try await fixture().send(
            .post, "/v1/apps/coins/signatures/advancedCommerce", body: #"{"request":{"items":[\#(items)]}}"#)
        #expect(signed.status == 400 && signed.body.count < 100_000)
    }

    @Test(arguments: RequestHeaders.Field.allCases, HostileText.allCases)
    func `a header field that is read must be visible ASCII`(
        field: RequestHeaders.Field, shape: HostileText
    ) async throws {
        let name = try #require(HTTPField.Name(field.rawValue))
        let fixture = RequestHandlerFixture(
            try await ServiceStack(apps: RequestHandlerFixture.apps), scopes: [],
            trustedProxies: TrustedProxies([try #require(TrustedProxies.Network("192.0.2.0/24"))]))
        let headers: HTTPFields = [name: shape.text(bytes: 28 << 10)]
        let sent = try await fixture.send(
            .get, "/v1/apps", token: field == .authorization ? nil : RequestHandlerFixture.token, headers: headers,
            peer: "192.0.2.1")
        #expect(sent.status == 400)
        #expect(try violation(sent).field == field.rawValue)
        #expect(try violation(sent).rule == "characters")
    }

    @Test func `a header field that is not read may contain anything`() async throws {
        let name = try #require(HTTPField.Name("X-Other"))
        let fixture = try await fixture()
        let headers: HTTPFields = [name: HostileText.descendingMarks.text(bytes: 28 << 10), .xForwardedFor: "\u{E9}"]
        // Without a trusted proxy nobody reads X-Forwarded-For.
        #expect(try await fixture.send(.get, "/v1/apps", headers: headers, peer: "192.0.2.1").status == 200)
    }

    @Test(arguments: marks) func `path and query are rejected, naming their field`(shape: HostileText) async throws {
        let text = try Self.encoded(shape.text(bytes: 4 << 10))
        let fixture = try await fixture()
        // No app has such a name, and the caller has no scope for it.
        #expect(try await fixture.send(.get, "/v1/apps/\(text)/cases").status == 403)
        let operators = try await fixture.send(.get, "/v1/apps/\(text)/cases", token: nil, to: \.admin)
        #expect(operators.status == 400)
        #expect(try violation(operators) == ("app", "characters"))
        for (target, field) in [
            ("/v1/apps/coins/users/\(text)/refunds", "user"),
            ("/v1/apps/coins/cases?\(text)=1", "query"), ("/v1/apps/coins/cases?state=\(text)", "query"),
        ] {
            let sent = try await fixture.send(.get, target)
            #expect(sent.status == 400, "\(field)")
            #expect(try violation(sent).field == field)
            #expect(try violation(sent).rule == "characters")
        }
        let posted = try await fixture.send(.post, "/webhooks/apple/\(text)", body: "{}", token: nil, to: \.webhook)
        #expect(posted.status == 400)
    }

    @Test(arguments: others) func `text of other shapes costs little wherever it is compared`(
        shape: HostileText
    ) async throws {
        let text = try Self.encoded(shape.text(bytes: 4 << 10))
        let fixture = try await fixture()
        let refused = try await fixture.send(.get, "/v1/apps/\(text)/cases")
        #expect(refused.status == 403 && refused.body.count < 2000, "the name is not repeated")
        #expect(try await fixture.send(.get, "/v1/apps/\(text)/cases", token: nil, to: \.admin).status == 404)
        #expect(try await fixture.send(.get, "/v1/apps/coins/users/\(text)/refunds").status == 400)
        #expect(try await fixture.send(.get, "/v1/apps/coins/cases?\(text)=1").status == 400)
        #expect(try await fixture.send(.get, "/v1/apps/coins/cases?pageToken=\(text)").status == 400)
    }
}

extension HTTPField.Name {
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .via
}
