import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Callbacks as services look after them.
struct CallbackRoutesTests {
    private let callbacks = "/v1/apps/coins/callbacks"
    private let fixture: RequestHandlerFixture

    init() async throws { fixture = try await RequestHandlerFixture() }

    private func add(_ more: String = "", format: String = "cloudevents") async throws -> JSONValue {
        let reply = try await fixture.send(
            .post, callbacks, body: #"{"url":"https://hooks.example.com/a","format":"\#(format)"\#(more)}"#)
        #expect(reply.status == 201)
        return try reply.json
    }

    @Test func `a callback is made, shown, changed and removed`() async throws {
        let made = try await add(#","types":["purser.case.opened"],"products":["gems"],"environments":["Sandbox"]"#)
        let id = try #require(made["id"]?.string)
        #expect(made["secret"]?.string == "whsec_\(id)/1")
        #expect(made["state"] == "active" && made["createdBy"] == "billing" && made["waiting"] == 0)
        let shown = try await fixture.send(.get, "\(callbacks)/\(id)").json
        #expect(shown["secret"] == nil && shown["types"]?[0] == "purser.case.opened")
        #expect(shown["environments"]?[0] == "Sandbox" && shown["products"]?[0] == "gems")
        let body = #"{"url":"https://hooks.example.com/b","products":[],"state":"paused","description":"for Ann"}"#
        let changed = try await fixture.send(.patch, "\(callbacks)/\(id)", body: body).json
        #expect(changed["url"] == "https://hooks.example.com/b" && changed["products"]?.array?.isEmpty == true)
        #expect(changed["state"] == "paused" && changed["pauseReason"] == "requested")
        #expect(changed["types"]?.array?.count == 1 && changed["description"] == "for Ann")
        let active = try await fixture.send(.patch, "\(callbacks)/\(id)", body: #"{"state":"active"}"#).json
        #expect(active["pauseReason"] == .null)
        #expect(try await fixture.send(.get, callbacks).json["callbacks"]?.array?.count == 1)
        let removed = try await fixture.send(.delete, "\(callbacks)/\(id)")
        #expect(removed.status == 200)
        #expect(try removed.json["callbacks"]?.array?.isEmpty == true)
        #expect(try await fixture.send(.get, "\(callbacks)/\(id)").json["reason"] == "CALLBACK_NOT_FOUND")
        #expect(try await fixture.send(.delete, "\(callbacks)/\(id)").status == 404)
    }

    @Test func `every broken rule is named with its field`() async throws {
        let body = """
            {"url":"https://elsewhere.test/","format":"cloudevents","types":["purser.case.opened","REFUND"],
            "products":[""],"environments":["Xcode"],"more":1}
            """
        let refused = try await fixture.send(.post, callbacks, body: body)
        #expect(refused.status == 400)
        let fields = try refused.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
        #expect(Set(fields) == ["url", "types[1]", "products[0]", "environments[0]", "more"])
        let plain = try await fixture.send(.post, callbacks, body: #"{"url":"http://hooks.example.com/","format":"x"}"#)
        #expect(try plain.json["violations"]?.array?.count == 2)
        let id = try #require(try await add()["id"]?.string)
        let empty = try await fixture.send(.patch, "\(callbacks)/\(id)", body: "{}")
        #expect(empty.status == 400)
        let format = try await fixture.send(.patch, "\(callbacks)/\(id)", body: #"{"format":"apple"}"#)
        #expect(try format.json["violations"]?[0]?["rule"] == "immutable")
    }

    @Test func `an app may have ten`() async throws {
        for _ in 0..<10 { _ = try await add() }
        let eleventh = try await fixture.send(
            .post, callbacks, body: #"{"url":"https://hooks.example.com/a","format":"apple"}"#)
        #expect(eleventh.status == 409)
        #expect(try eleventh.json["reason"] == "CALLBACK_CONFLICT")
    }

    @Test func `a secret is shown once, and another one with each rotation`() async throws {
        let id = try #require(try await add()["id"]?.string)
        let rotated = try await fixture.send(.post, "\(callbacks)/\(id):rotateSecret").json
        #expect(rotated["secret"]?.string == "whsec_\(id)/2")
        #expect(rotated["previousSecretUntil"] == "2023-11-15T22:13:20.000Z")
        let apple = try await add(format: "apple")
        #expect(apple["secret"] == nil)
        let other = try #require(apple["id"]?.string)
        #expect(try await fixture.send(.post, "\(callbacks)/\(other):rotateSecret").status == 409)
    }

    @Test func `a test is posted at once, and told of`() async throws {
        let id = try #require(try await add()["id"]?.string)
        let test = try await fixture.send(.post, "\(callbacks)/\(id):test")
        #expect(test.status == 200)
        let told = try test.json
        #expect(told["received"] == true && told["status"] == 200 && told["failure"] == .null)
        #expect(fixture.stack.callbacks.messages.map(\.body) == [Array("test coins".utf8)])
        fixture.stack.callbacks.answer { _ in .status(503) }
        let failed = try await fixture.send(.post, "\(callbacks)/\(id):test").json
        #expect(failed["received"] == false && failed["failure"] == "the receiver answered 503")
        let apple = try #require(try await add(format: "apple")["id"]?.string)
        #expect(try await fixture.send(.post, "\(callbacks)/\(apple):test").status == 409, "there is none yet")
        try await fixture.stack.receive(.sample("n1", type: "TEST"))
        #expect(try await fixture.send(.post, "\(callbacks)/\(apple):test").status == 200)
        #expect(fixture.stack.callbacks.messages.last?.body == Array("n.n1.n".utf8))
    }

    @Test func `a replay takes a cursor or a time, and attempts are listed`() async throws {
        let id = try #require(try await add()["id"]?.string)
        let replay = "\(callbacks)/\(id):replay"
        #expect(try await fixture.send(.post, replay, body: "{}").status == 400)
        #expect(
            try await fixture.send(.post, replay, body: #"{"after":"0","from":"2023-01-01T00:00:00Z"}"#).status == 400)
        #expect(try await fixture.send(.post, replay, body: #"{"after":"0"}"#).status == 200)
        #expect(try await fixture.send(.post, replay, body: #"{"from":"2023-01-01T00:00:00Z"}"#).status == 200)
        #expect(try await fixture.send(.post, replay, body: #"{"after":"ffff-1"}"#).status == 410)
        let attempts = try await fixture.send(.get, "\(callbacks)/\(id)/attempts?limit=10")
        #expect(attempts.status == 200)
        #expect(try attempts.json["attempts"]?.array?.isEmpty == true)
    }

    @Test func `it takes the scope`() async throws {
        let handler = RequestHandlerFixture(fixture.stack, scopes: [.eventsRead])
        let refused = try await handler.send(.get, callbacks)
        #expect(refused.status == 403)
        #expect(try refused.json["detail"]?.string?.contains("callbacks:manage") == true)
    }
}
