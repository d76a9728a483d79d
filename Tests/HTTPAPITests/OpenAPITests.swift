import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import Logging
import TestSupport
import Testing
import Yams

/// `api/openapi.yaml` against the program, both ways.
struct OpenAPITests {
    /// One operation: `GET /v1/apps` on a listener, with the scopes of which it needs one.
    private struct Operation: Hashable, CustomStringConvertible {
        let listener: String
        let method: String
        let path: String
        let scopes: Set<String>

        var description: String { "\(listener): \(method) \(path) (\(scopes.sorted()))" }
    }

    private func routed() async throws -> Set<Operation> {
        let services = try await ServiceStack(apps: AppCatalog([])).services
        let handlers = [
            ("api", Routes.api(services)),
            ("webhook", Routes.webhook(services)),
            ("admin", Routes.admin(services, health: NoHealth(), reloader: NoReloader())),
            ("health", Routes.health(NoHealth(), metrics: { _ in "" })),
        ]
        return Set(
            handlers.flatMap { listener, routes in
                routes.map {
                    Operation(
                        listener: listener, method: $0.method.rawValue, path: $0.path,
                        scopes: Set($0.scopes.map(\.rawValue)))
                }
            })
    }

    private func documented() throws -> Set<Operation> {
        Set(
            try OpenAPIDocument.operations().flatMap { operation in
                try #require(!operation.listeners.isEmpty, "\(operation.method) \(operation.path)")
                return operation.listeners.map {
                    Operation(
                        listener: $0, method: operation.method.rawValue, path: operation.path, scopes: operation.scopes)
                }
            })
    }

    @Test func `every route is documented with its listeners and scope, and every documented operation is routed`()
        async throws
    {
        let documented = try documented()
        let routed = try await routed()
        #expect(routed.subtracting(documented) == [])
        #expect(documented.subtracting(routed) == [])
    }

    @Test func `every operation has its path's parameters`() throws {
        let paths = try #require(try OpenAPIDocument.load()["paths"] as? [String: [String: Any]])
        for (path, items) in paths {
            let placeholders = path.split(separator: "/").filter { $0.first == "{" }.count
            #expect((items["parameters"] as? [Any])?.count ?? 0 == placeholders, "\(path)")
        }
    }

    @Test func `every operation lists the statuses that follow from its form, and default is the listener's alone`()
        throws
    {
        for operation in try OpenAPIDocument.operations() {
            let name = "\(operation.method.rawValue) \(operation.path)"
            #expect(operation.reference(of: "default") == "#/components/responses/Refused", "\(name)")
            var expected: Set<Int> = [500]
            if operation.path.hasPrefix("/v1/") { expected.formUnion([400, 503]) }
            if !operation.isOpen { expected.formUnion([401, 429]) }
            if !operation.scopes.isEmpty { expected.insert(403) }
            if operation.path.contains("{app}") { expected.insert(404) }
            if operation.content["requestBody"] != nil { expected.formUnion([413, 415]) }
            #expect(expected.subtracting(operation.statuses) == [], "\(name)")
            #expect(operation.statuses.contains { 200..<300 ~= $0 }, "\(name)")
        }
    }

    /// `RequestHandlerFixture` asks this about whatever any test is answered.
    @Test func `what an operation does not list is noticed`() throws {
        let answers = try #require(try DocumentedAnswers.all.get()["api"])
        #expect(answers.isListed(200, for: .get, "/v1/apps"))
        #expect(!answers.isListed(409, for: .get, "/v1/apps"))
        #expect(answers.isListed(409, for: .put, "/v1/apps/coins/users/al%2Fice/links/transactionId/1"))
        #expect(!answers.isListed(422, for: .head, "/v1/apps/coins/cases/7"))
        #expect(answers.isListed(404, for: .get, "/v2"), "no operation is answered there")
    }

    @Test func `the documented problem codes and reasons are those of the program`() throws {
        let components = try #require(try OpenAPIDocument.load()["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: Any])
        let problem = try #require(schemas["Problem"] as? [String: Any])
        let properties = try #require(problem["properties"] as? [String: [String: Any]])
        let codes = try #require(properties["code"]?["enum"] as? [String])
        let reasons = try #require((schemas["Reason"] as? [String: Any])?["enum"] as? [String])
        #expect(Set(codes) == Set(ServiceError.Code.allCases.map(\.rawValue)))
        #expect(Set(reasons) == Set(ServiceError.Reason.allCases.map(ProblemResponse.constant)))
    }

    @Test func `docs/errors.md has a row for every reason, with its status and code`() throws {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        let text = try String(contentsOf: url.appending(path: "docs/errors.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.count == ServiceError.Reason.allCases.count)
        for reason in ServiceError.Reason.allCases {
            let row = try #require(rows.first { $0.first == "`\(reason.rawValue)`" }, "\(reason.rawValue)")
            if reason != .appleRejected {
                #expect(row[2] == reason.code.rawValue, "\(reason.rawValue)")
                #expect(row[1] == String(ProblemResponse.statusCode(of: reason)), "\(reason.rawValue)")
            }
        }
    }
}
