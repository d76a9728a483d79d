import Domain
import HTTPAPI
import HTTPTypes
import JSON
import Logging
import TestSupport
import Testing

/// Every route below an app asks for its scope, and for no other.
struct ScopeTests {
    @Test func `without its scope every route is a 403 that names it, whatever the body`() async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let routes = Routes.api(stack.services).filter { $0.scope != nil }
        #expect(routes.count >= 38)
        for route in routes {
            let scope = try #require(route.scope)
            let path = route.path.replacing("{app}", with: "coins").replacing(/\{[a-zA-Z]+\}/, with: "1")
            let all = Set(Scope.allCases)
            let refused = try await RequestHandlerFixture(stack, scopes: all.subtracting([scope])).send(
                route.method, path, body: "{}")
            #expect(refused.status == 403, "\(route.method) \(path)")
            #expect(try refused.json["detail"]?.string?.contains(scope.rawValue) == true)
            let admitted = try await RequestHandlerFixture(stack, scopes: [scope]).send(route.method, path, body: "{}")
            #expect(admitted.status != 403 && admitted.status != 405, "\(route.method) \(path)")
        }
    }
}
