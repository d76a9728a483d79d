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
        let routes = Routes.api(stack.services).filter { !$0.scopes.isEmpty }
        #expect(routes.count >= 38)
        for route in routes {
            let path = route.path.replacing("{app}", with: "coins").replacing(/\{[a-zA-Z]+\}/, with: "1")
            let granting = Set(route.scopes + route.scopes.compactMap(\.impliedBy))
            let refused = try await RequestHandlerFixture(stack, scopes: Set(Scope.allCases).subtracting(granting))
                .send(
                    route.method, path, body: "{}")
            #expect(refused.status == 403, "\(route.method) \(path)")
            for scope in route.scopes {
                #expect(try refused.json["detail"]?.string?.contains(scope.rawValue) == true)
            }
            for scope in granting {
                let admitted = try await RequestHandlerFixture(stack, scopes: [scope]).send(
                    route.method, path, body: "{}")
                #expect(admitted.status != 403 && admitted.status != 405, "\(route.method) \(path)")
            }
        }
    }

    @Test func `only declaring links implies another scope: reading them`() {
        #expect(Scope.allCases.filter { $0.impliedBy != nil } == [.linksRead])
        let caller = Caller(name: "shop", scopes: ["coins": [.linksWrite], "gems": [.linksRead]])
        #expect(caller.holds(.linksRead, for: "coins") && caller.holds(.linksWrite, for: "coins"))
        #expect(caller.holds(.linksRead, for: "gems") && !caller.holds(.linksWrite, for: "gems"))
    }
}
