import Domain
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Requests that are translations of calls of another protocol.
struct CallTests {
    private let broken = RequestHandler.Call(violations: [
        Violation(field: "#111", rule: "unknown", message: "There is no field with the number 111.")
    ])

    @Test func `what is wrong with a call is told to whoever may ask`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/cases", as: broken)
        #expect(reply.status == 400)
        let problem = try reply.json
        #expect(problem["reason"] == "INVALID_REQUEST" && problem["violations"]?[0]?["field"] == "#111")
    }

    @Test func `nobody else learns of it`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/apps/coins/cases", token: nil, as: broken)
        #expect(reply.status == 401)
        #expect(try reply.json["violations"] == nil)
    }

    @Test func `nothing is done about a call that is wrong`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1")]])
        _ = try await fixture.send(.get, "/v1/apps/coins/transactions/1", as: broken)
        #expect(fixture.gateway.calls.isEmpty)
    }

    @Test func `a failure is a problem, whatever form the route gives it elsewhere`() async throws {
        let fixture = try await RequestHandlerFixture()
        let (path, body) = ("/v1/apps/coins/receipts", #"{"receipt":"","country_code":"EUR"}"#)
        let rest = try await fixture.send(.post, path, body: body)
        #expect(rest.status == 422)
        #expect(try rest.json["errors"] != nil)
        let call = try await fixture.send(.post, path, body: body, as: RequestHandler.Call())
        #expect(call.status == 400)
        #expect(try call.json["reason"] == "INVALID_REQUEST")
        #expect(try call.json["violations"]?.array?.isEmpty == false)
    }

    @Test func `the time that a client waits is the request's, less what the answer's way takes`() async throws {
        let tenth = Wait.limit / 10
        for (timeout, granted) in [
            (tenth, tenth - .milliseconds(100)), (.milliseconds(500), .milliseconds(450)), (Wait.limit * 2, Wait.limit),
        ] {
            let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1")]])
            let before = ContinuousClock.now
            _ = try await fixture.send(
                .get, "/v1/apps/coins/transactions/1", as: RequestHandler.Call(timeout: timeout))
            let after = ContinuousClock.now
            guard let deadline = fixture.gateway.calls.first?.deadline else {
                // A busy machine may have used up what little there was.
                #expect(timeout < .seconds(1))
                continue
            }
            #expect((before + granted...after + granted).contains(deadline), "\(timeout)")
        }
    }
}
