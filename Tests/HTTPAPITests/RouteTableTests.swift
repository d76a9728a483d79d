import HTTPTypes
import Testing

@testable import HTTPAPI

/// Which route a path means.
struct RouteTableTests {
    private static let routes: [(method: HTTPRequest.Method, path: String)] = [
        (.get, "/v1/apps"), (.get, "/v1/apps/{app}/cases"), (.get, "/v1/apps/{app}/cases/{caseId}"),
        (.post, "/v1/apps/{app}/cases/{caseId}:decline"), (.post, "/v1/apps/{app}/cases/{caseId}/consumption"),
        (.post, "/v1/apps/{app}/transactions:batchGet"), (.get, "/v1/apps/{app}/transactions/{transactionId}"),
        (.put, "/v1/apps/{app}/transactions/{transactionId}"),
        (.post, "/v1/apps/{app}/transactions/{transactionId}:finish"),
    ]

    private let table = RouteTable(Self.routes)

    /// The route with its parameters, or what else came of it.
    private func match(_ method: HTTPRequest.Method, _ path: String) -> String {
        switch table.match(method, path) {
        case .unknown: return "unknown"
        case .otherMethod(let allowed): return "takes \(allowed)"
        case .found(let number, let parameters):
            let values = parameters.map { "\($0.name)=\($0.value)" }
            return ([Self.routes[number].path] + values).joined(separator: " ")
        }
    }

    @Test(arguments: [
        ("/v1/apps", "/v1/apps"), ("/v1/apps/", "/v1/apps"), ("//v1//apps", "/v1/apps"),
        ("/v1/apps/coins/cases", "/v1/apps/{app}/cases app=coins"),
        ("/v1/apps/coins/cases/7", "/v1/apps/{app}/cases/{caseId} app=coins caseId=7"),
        ("/v1/apps/a%2Fb/cases/%C3%A9", "/v1/apps/{app}/cases/{caseId} app=a%2Fb caseId=%C3%A9"),
        ("/v1/apps/coins/cases/:decline", "takes POST"),
        ("/v1/apps/cases/cases/cases", "/v1/apps/{app}/cases/{caseId} app=cases caseId=cases"),
        ("/", "unknown"), ("", "unknown"), ("/v1", "unknown"), ("/v1/apps/coins", "unknown"), ("/V1/apps", "unknown"),
        ("/v1/app", "unknown"), ("/v1/appss", "unknown"), ("/v1/apps/coins/cases/7/more", "unknown"),
        ("/v1/apps/coins/cases/7:decline/consumption", "unknown"),
    ])
    func `a path leads to its route, or to none`(path: String, expected: String) {
        #expect(match(.get, path) == expected)
    }

    @Test func `a verb is no part of an identifier`() {
        #expect(
            match(.post, "/v1/apps/coins/cases/7:decline") == "/v1/apps/{app}/cases/{caseId}:decline app=coins caseId=7"
        )
        #expect(
            match(.post, "/v1/apps/coins/transactions:batchGet") == "/v1/apps/{app}/transactions:batchGet app=coins")
        #expect(match(.get, "/v1/apps/coins/transactions/1:finish") == "takes POST")
        #expect(
            match(.get, "/v1/apps/coins/transactions/1:finished")
                == "/v1/apps/{app}/transactions/{transactionId} app=coins transactionId=1:finished")
    }

    @Test func `a path that exists with other methods names them`() {
        #expect(match(.delete, "/v1/apps/coins/transactions/1") == "takes GET, HEAD, PUT")
        #expect(match(.post, "/v1/apps") == "takes GET, HEAD")
        #expect(match(.head, "/v1/apps/coins/transactions/1") == match(.get, "/v1/apps/coins/transactions/1"))
        #expect(match(.head, "/v1/apps/coins/cases/7/consumption") == "takes POST")
        #expect(match(.get, "/v1/apps/coins/cases/7/consumption") == "takes POST")
    }

    @Test func `each route of the api leads to itself`() async throws {
        let routes = try await Routes.api(RequestHandlerFixture().stack.services)
        let table = RouteTable(routes.map { ($0.method, $0.path) })
        for (number, route) in routes.enumerated() {
            guard case .found(let found, let parameters) = table.match(route.method, route.path) else {
                Issue.record("\(route.path) leads nowhere")
                continue
            }
            #expect(found == number, "\(route.method) \(route.path)")
            #expect(parameters.allSatisfy { $0.value == "{\($0.name)}" })
        }
    }
}
