import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import HTTPAPI

/// What a caller without a scope can learn: neither which apps exist, nor what is wrong with its request.
struct AdmissionTests {
    private static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .via
    /// Header fields that no route accepts.
    private static let invalidHeaders: HTTPFields = [
        idempotencyKey: "\u{E9}", .prefer: "\u{E9}", .contentType: "text/plain", .accept: "\u{E9}",
    ]

    /// The routes of the api listener that name an app.
    private func routes(_ stack: ServiceStack) -> [Route] {
        Routes.api(stack.services).filter { $0.path.contains("{app}") }
    }

    private func path(_ route: Route, app: String, rest: String = "1") -> String {
        route.path.replacing("{app}", with: app).replacing(/\{[a-zA-Z]+\}/, with: rest)
    }

    /// The body of a problem without what differs: the name of the app.
    private func body(_ reply: RequestHandlerFixture.Reply, of app: String) -> String {
        String(decoding: reply.body, as: UTF8.self).replacing("`\(app)`", with: "`APP`")
    }

    @Test func `an app that does not exist gets the same 403 as one that the caller has no scope for`() async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let fixture = RequestHandlerFixture(stack, scopes: Set(Scope.allCases))
        for route in routes(stack) {
            let forbidden = try await fixture.send(route.method, path(route, app: "gems"), body: "{}")
            let unknown = try await fixture.send(route.method, path(route, app: "moon"), body: "{}")
            #expect(forbidden.status == 403 && unknown.status == 403, "\(route.method) \(route.path)")
            #expect(forbidden.headers == unknown.headers)
            #expect(body(forbidden, of: "gems") == body(unknown, of: "moon"))
            #expect(try unknown.json["reason"] == "MISSING_SCOPE")
            #expect(try unknown.json["detail"]?.string?.contains("configuration") == false, "no caller can change it")
        }
    }

    @Test func `the log tells an app that does not exist from one without a scope`() async throws {
        let log = RecordedLog()
        let fixture = try await RequestHandlerFixture(logger: log.logger)
        for app in ["gems", "moon"] { _ = try await fixture.send(.get, "/v1/apps/\(app)/cases") }
        #expect(log.lines("Request answered").map { $0.metadata["cause"] } == [nil, "no app has this name"])
    }

    @Test func `a name that no app can have is not repeated`() async throws {
        let fixture = try await RequestHandlerFixture()
        for name in ["%FF", "a%20b", "Coins", "%3Cscript%3E", String(repeating: "a", count: 64), "-a"] {
            let reply = try await fixture.send(.get, "/v1/apps/\(name)/cases")
            #expect(reply.status == 403, "\(name)")
            #expect(
                try reply.json["detail"]
                    == "Caller `billing` lacks the scope `consumption:read` for this app; the platform team grants it.")
        }
    }

    @Test func `a caller with a scope for every app gets a 404 for one that does not exist`() async throws {
        let fixture = try await RequestHandlerFixture(scopes: [.linksRead], gems: [.refundsRead])
        let unknown = try await fixture.send(.get, "/v1/apps/moon/cases")
        #expect(unknown.status == 404)
        #expect(try unknown.json["reason"] == "APP_NOT_FOUND")
        #expect(try await fixture.send(.get, "/v1/apps/gems/cases").status == 403)
        #expect(try await fixture.send(.get, "/v1/apps/%FF/cases").status == 400)
    }

    @Test func `operators get a 404 for an app that does not exist`() async throws {
        let fixture = try await RequestHandlerFixture()
        let unknown = try await fixture.send(.get, "/v1/apps/moon/cases", token: nil, to: \.admin)
        #expect(unknown.status == 404)
        #expect(try unknown.json["reason"] == "APP_NOT_FOUND")
    }

    @Test func `without a scope nothing that is wrong with a request is reported`() async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        for route in routes(stack) {
            // Each counts failed attempts anew.
            let fixture = RequestHandlerFixture(stack, scopes: [])
            for (app, body) in [
                ("coins", "{"), ("gems", #"{"a":1,"a":2}"#), ("moon", String(repeating: "x", count: 4096)),
                ("%FF", "{}"),
            ] {
                let target = path(route, app: app, rest: "%FF") + "?%FF=1&nothing=1&nothing=2"
                for (token, status) in [(RequestHandlerFixture.token, 403), (nil, 401)] {
                    let reply = try await fixture.send(
                        route.method, target, body: body, token: token, headers: Self.invalidHeaders)
                    #expect(reply.status == status, "\(route.method) \(target)")
                    #expect(try reply.json["violations"] == nil)
                }
            }
        }
    }

    @Test func `with its scope each of them is reported`() async throws {
        let fixture = try await RequestHandlerFixture()
        let path = "/v1/apps/coins/users/u/consent"
        func field(_ reply: RequestHandlerFixture.Reply) throws -> String? {
            #expect(reply.status == 400)
            return try reply.json["violations"]?[0]?["field"]?.string
        }
        let header = try await fixture.send(.put, path, body: "{}", headers: [.accept: "\u{E9}"])
        #expect(try field(header) == "Accept")
        #expect(try field(try await fixture.send(.put, path + "?%FF=1", body: "{}")) == "query")
        let user = try await fixture.send(.put, "/v1/apps/coins/users/%FF/consent", body: "{}")
        #expect(try field(user) == "user")
        #expect(try field(try await fixture.send(.put, path, body: #"{"nothing":1}"#)) != nil)
    }

    @Test func `a caller without the scope for any app learns nothing of a receipt`() async throws {
        let path = "/client/itunes_connect/receipts"
        let refused = try await RequestHandlerFixture(scopes: Set(Scope.allCases).subtracting([.receiptsWrite]))
            .send(.post, path + "?%FF", body: "{", headers: Self.invalidHeaders)
        #expect(refused.status == 403)
        #expect(try refused.json["violations"] == nil && refused.json["errors"] == nil)
    }

    @Test func `the violations of a call are reported after the scope check`() async throws {
        let broken = RequestHandler.Call(violations: [
            Violation(field: "#111", rule: "unknown", message: "There is no field with the number 111.")
        ])
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        for (scopes, app, status) in [
            (Set(Scope.allCases), "coins", 400), (Set(Scope.allCases), "gems", 403), (Set(Scope.allCases), "moon", 403),
            ([.linksRead], "coins", 403),
        ] as [(Set<Scope>, String, Int)] {
            let reply = try await RequestHandlerFixture(stack, scopes: scopes)
                .send(.get, "/v1/apps/\(app)/cases", headers: Self.invalidHeaders, as: broken)
            #expect(reply.status == status, "\(app)")
            #expect(try (reply.json["violations"] == nil) == (status == 403))
        }
        let stranger = try await RequestHandlerFixture(stack, scopes: [])
            .send(.get, "/v1/apps/coins/cases", token: nil, headers: Self.invalidHeaders, as: broken)
        #expect(stranger.status == 401)
    }

    @Test func `a call whose message names no app needs the scope for any app`() async throws {
        let unreadable = RequestHandler.Call(
            violations: [Violation(field: "", rule: "encoding", message: "The message is not in the wire format.")],
            lacksApp: true)
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        for (scopes, status) in [([.consumptionRead], 400), ([.linksRead], 403), ([], 403)] as [(Set<Scope>, Int)] {
            let reply = try await RequestHandlerFixture(stack, scopes: scopes).send(
                .get, "/v1/apps/-/cases", as: unreadable)
            #expect(reply.status == status)
        }
        let operators = try await RequestHandlerFixture(stack, scopes: []).send(
            .get, "/v1/apps/-/cases", token: nil, as: unreadable, to: \.admin)
        #expect(operators.status == 400)
    }
}

extension HTTPField.Name {
    fileprivate static let prefer = HTTPField.Name("Prefer") ?? .via
}
