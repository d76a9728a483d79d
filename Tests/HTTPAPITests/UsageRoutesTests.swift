import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Usage as services report it.
struct UsageRoutesTests {
    private static let transaction = "/v1/apps/coins/transactions/1000/usage"
    private static let batch = "/v1/apps/coins/usage:batch"

    private func fixture(scopes: Set<Scope> = Set(Scope.allCases)) async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(scopes: scopes, maximumBodyBytes: 1 << 20)
    }

    private func outcomes(_ reply: RequestHandlerFixture.Reply) throws -> [String?] {
        try reply.json["results"]?.array?.map { $0["outcome"]?.string } ?? []
    }

    private func fields(_ problem: JSONValue?) -> [String?]? {
        problem?["violations"]?.array?.map { $0["field"]?.string }
    }

    @Test func `what was reported comes back, with what it comes to in version 1`() async throws {
        let fixture = try await fixture()
        let missing = try await fixture.send(.get, Self.transaction)
        #expect(missing.status == 404)
        #expect(try missing.json["reason"]?.string == "USAGE_NOT_FOUND")
        let body = """
            {"at":"2023-11-14T10:00:00+02:00","deliveryStatus":"DELIVERED","consumptionPercentage":40000,
             "sampleContentProvided":true,"accountCreatedAt":"2023-01-01T00:00:00Z","playTimeMinutes":360,
             "lifetimeCentsPurchased":5000,"lifetimeCentsRefunded":0,"platform":1,"userStatus":2,"user":"alice"}
            """
        let created = try await fixture.send(.put, "\(Self.transaction)?environment=Sandbox", body: body)
        #expect(created.status == 201)
        #expect(try created.json["outcome"] == "created")
        let reply = try await fixture.send(.get, Self.transaction).json
        #expect(try reply["usage"] == created.json["usage"])
        let usage = try #require(reply["usage"])
        #expect(usage["transactionId"] == "1000" && usage["user"] == "alice" && usage["productId"] == .null)
        #expect(usage["environment"] == "Sandbox" && usage["at"] == "2023-11-14T08:00:00.000Z")
        #expect(usage["consumptionPercentage"] == 40000 && usage["sampleContentProvided"] == true)
        #expect(usage["lifetimeCentsPurchased"] == 5000 && usage["recordedBy"] == "billing")
        #expect(usage["recordedAt"] == "2023-11-14T22:13:20.000Z")
        let codes = try #require(reply["appleV1"])
        #expect(codes["accountTenure"] == 6 && codes["consumptionStatus"] == 2 && codes["deliveryStatus"] == 0)
        #expect(codes["lifetimeDollarsPurchased"] == 3 && codes["lifetimeDollarsRefunded"] == 1)
        #expect(codes["platform"] == 1 && codes["playTime"] == 4 && codes["userStatus"] == 2)
        #expect(try await fixture.send(.get, "\(Self.transaction)?environment=Production").status == 404)
        #expect(fixture.gateway.calls.isEmpty, "nothing of this is Apple's")
    }

    @Test func `the newest stands, and each report is told what became of it`() async throws {
        let fixture = try await fixture()
        func put(_ at: String, _ percentage: Int) async throws -> (Int, JSONValue?, JSONValue?) {
            let reply = try await fixture.send(
                .put, Self.transaction, body: #"{"at":"2023-11-14T\#(at)Z","consumptionPercentage":\#(percentage)}"#)
            return (reply.status, try reply.json["outcome"], try reply.json["usage"]?["consumptionPercentage"])
        }
        #expect(try await put("10:00:00", 1) == (201, "created", 1))
        #expect(try await put("12:00:00", 2) == (200, "updated", 2))
        #expect(try await put("11:00:00", 3) == (200, "outdated", 2))
        #expect(try await put("12:00:00", 2) == (200, "unchanged", 2))
        #expect(try await put("12:00:00", 4) == (200, "updated", 4))
        // Without a time it is of now.
        _ = try await fixture.send(.put, Self.transaction, body: #"{"playTimeMinutes":1}"#)
        let usage = try await fixture.send(.get, Self.transaction).json["usage"]
        #expect(usage?["at"] == "2023-11-14T22:13:20.000Z" && usage?["consumptionPercentage"] == .null)
    }

    @Test func `a batch tells of each what became of it`() async throws {
        let fixture = try await fixture()
        let body = """
            {"usage":[{"transactionId":"1","consumptionPercentage":1},{"transactionId":"1","at":"2023-01-01T00:00:00Z","platform":2},
             {"user":"alice","productId":"gems","environment":"Sandbox","consumptionPercentage":5},{"user":"alice","platform":1},
             {"transactionId":"2","productId":"gems","platform":1},{"transactionId":"3","consumptionPercentage":-1,"colour":"red"},7,
             {"transactionId":"1/2","platform":1},{"transactionId":"4"}]}
            """
        let reply = try await fixture.send(.post, Self.batch, body: body)
        #expect(reply.status == 200)
        #expect(
            try outcomes(reply) == [
                "created", "outdated", "created", "refused", "refused", "refused", "refused", "refused", "refused",
            ])
        let json = try reply.json
        #expect(json["dryRun"] == nil)
        let problems = try #require(json["results"]?.array?.map { $0["problem"] })
        #expect(fields(problems[3]) == ["transactionId"] && fields(problems[4]) == ["productId"])
        #expect(fields(problems[5]) == ["consumptionPercentage", "colour"] && fields(problems[6]) == [""])
        #expect(fields(problems[7]) == ["transactionId"] && fields(problems[8]) == ["usage"])
        let again = try await fixture.send(.post, Self.batch, body: body)
        #expect(try outcomes(again).prefix(3) == ["unchanged", "outdated", "unchanged"])
    }

    @Test func `what is no batch is refused whole`() async throws {
        let fixture = try await fixture()
        let many = Array(repeating: "1", count: UsageService.maximumBatch + 1).joined(separator: ",")
        for body in [
            "{}", #"{"usage":[]}"#, #"{"usage":{}}"#, #"{"usage":[\#(many)]}"#, #"{"usage":[1],"dryRun":true}"#,
        ] {
            let reply = try await fixture.send(.post, Self.batch, body: body)
            #expect(reply.status == 400, "\(body.prefix(40))")
        }
        #expect(try await fixture.send(.post, Self.batch, body: #"{"usage":[1]}"#).status == 200)
    }

    @Test func `a thousand reports of the longest names are one request`() async throws {
        let fixture = try await fixture()
        let (user, product) = (String(repeating: "u", count: 120), String(repeating: "p", count: 255))
        let entries = (0..<1000).map { number in
            """
            {"user":"\(user)\(number)","productId":"\(product)","environment":"Production","at":"2023-11-14T10:00:00.000Z",\
            "deliveryStatus":"DELIVERED","consumptionPercentage":100000,"sampleContentProvided":false,\
            "accountCreatedAt":"2023-11-14T10:00:00.000Z","playTimeMinutes":100000000,"lifetimeCentsPurchased":1000000000000,\
            "lifetimeCentsRefunded":1000000000000,"platform":1,"userStatus":1}
            """
        }
        let reply = try await fixture.send(
            .post, Self.batch, body: #"{"usage":[\#(entries.joined(separator: ","))]}"#)
        #expect(try outcomes(reply) == Array(repeating: "created", count: 1000))
    }

    @Test(arguments: [
        ("{}", "usage", "required"), (#"{"at":"2023-11-14T22:18:21Z","platform":1}"#, "at", "future"),
        (#"{"at":1,"platform":1}"#, "at", "type"), (#"{"at":"yesterday","platform":1}"#, "at", "format"),
        (#"{"accountCreatedAt":"2023-11-14T22:18:21Z"}"#, "accountCreatedAt", "future"),
        (#"{"deliveryStatus":"delivered"}"#, "deliveryStatus", "enum"),
        (#"{"consumptionPercentage":100001}"#, "consumptionPercentage", "range"),
        (#"{"consumptionPercentage":12.5}"#, "consumptionPercentage", "type"),
        (#"{"deliveryStatus":"UNDELIVERED_OTHER","consumptionPercentage":1}"#, "consumptionPercentage", "undelivered"),
        (#"{"sampleContentProvided":"yes"}"#, "sampleContentProvided", "type"),
        (#"{"playTimeMinutes":-1}"#, "playTimeMinutes", "range"),
        (#"{"lifetimeCentsPurchased":1000000000001}"#, "lifetimeCentsPurchased", "range"),
        (#"{"platform":0}"#, "platform", "range"), (#"{"userStatus":5}"#, "userStatus", "range"),
        (#"{"platform":1,"user":""}"#, "user", "length"),
        (#"{"platform":1,"productId":"gems"}"#, "productId", "unknownField"),
    ])
    func `a broken rule is named with its field`(body: String, field: String, rule: String) async throws {
        let reply = try await fixture().send(.put, Self.transaction, body: body)
        #expect(reply.status == 400)
        let violations = try #require(try reply.json["violations"]?.array)
        #expect(violations.map { $0["field"]?.string } == [field] && violations.map { $0["rule"]?.string } == [rule])
    }

    @Test func `an environment that the app does not have is refused, and its only one is the report's`() async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let app = try stack.services.apps.app("gems")
        var fields = FieldReader(body: ["platform": .integer(1)])
        let report = stack.services.refunds.usage.report(
            .transaction("1", user: nil), app: app, environment: nil, at: nil, accountCreatedAt: nil, caller: "billing",
            &fields)
        #expect(fields.isValid && report?.environment == .sandbox)
        let reply = try await fixture().send(.put, "\(Self.transaction)?environment=Xcode", body: #"{"platform":1}"#)
        #expect(reply.status == 400)
    }

    @Test func `a user's reports come page by page`() async throws {
        let fixture = try await fixture()
        let entries = (0..<5).map { #"{"user":"alice","productId":"p\#($0)","consumptionPercentage":\#($0)}"# }
        _ = try await fixture.send(.post, Self.batch, body: #"{"usage":[\#(entries.joined(separator: ","))]}"#)
        let first = try await fixture.send(.get, "/v1/apps/coins/users/alice/usage?pageSize=3").json
        let token = try #require(first["nextPageToken"]?.string)
        let escaped = try #require(token.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let second = try await fixture.send(
            .get, "/v1/apps/coins/users/alice/usage?pageSize=3&pageToken=\(escaped)"
        ).json
        #expect(second["nextPageToken"] == nil)
        let listed = [first, second].flatMap { $0["usage"]?.array ?? [] }
        #expect(listed.map { $0["productId"]?.string } == (0..<5).map { "p\($0)" })
        let other = try await fixture.send(.get, "/v1/apps/coins/users/bob/usage?pageSize=3&pageToken=\(escaped)")
        #expect(other.status == 400)
    }

    @Test func `an erasure tells how many reports went`() async throws {
        let fixture = try await fixture()
        let body =
            #"{"usage":[{"user":"alice","productId":"p","platform":1},{"transactionId":"1","user":"alice","platform":1}]}"#
        _ = try await fixture.send(.post, Self.batch, body: body)
        let erased = try await fixture.send(.delete, "/v1/apps/coins/users/alice")
        #expect(try erased.json["erased"]?["usage"] == 2)
        #expect(try await fixture.send(.get, "/v1/apps/coins/users/alice/usage").json["usage"] == [])
    }

    @Test func `reporting and reading need scopes of their own`() async throws {
        let writer = try await fixture(scopes: [.usageWrite])
        #expect(try await writer.send(.put, Self.transaction, body: #"{"platform":1}"#).status == 201)
        #expect(try await writer.send(.get, Self.transaction).status == 403)
        let reader = try await fixture(scopes: [.usageRead])
        #expect(try await reader.send(.put, Self.transaction, body: #"{"platform":1}"#).status == 403)
        #expect(try await reader.send(.post, Self.batch, body: #"{"usage":[]}"#).status == 403)
        #expect(try await reader.send(.get, "/v1/apps/coins/users/alice/usage").status == 200)
    }
}
