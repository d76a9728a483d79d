import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// What a request with a receipt may hold, and the 422 that tells everything that is wrong with it.
struct ReceiptRequestTests {
    @Test(arguments: [ReceiptFixture.dropIn, ReceiptFixture.path])
    func `every rule that is broken is told by its field`(path: String) async throws {
        let fixture = try await ReceiptFixture()
        let reply = try await fixture.handlers.send(
            .post, path + "?colour=1",
            body: #"{"receipt":"?","country_code":"Germany","identifier_for_vendor":"1","user_identifier":"","#
                + #""ip_address":"nowhere","metadata":[],"more":1}"#)
        let errors = try fixture.errors(reply)
        #expect(
            Set(errors.keys) == [
                "receipt", "country_code", "identifier_for_vendor", "user_identifier", "ip_address", "metadata", "more",
                "colour",
            ])
        #expect(errors.values.allSatisfy { $0.count == 1 })
        #expect(try fixture.errors(await fixture.handlers.send(.post, path, body: "{}")).keys.contains("receipt"))
        #expect(try fixture.errors(await fixture.handlers.send(.post, path, body: "[")).keys.map(\.self) == ["body"])
        #expect(
            try await fixture.handlers.send(
                .post, path, body: "{}", headers: [.contentType: "application/x-www-form-urlencoded"]
            ).status == 415)
    }

    @Test func `a receipt that is nothing to go on is a 422 that begins with its reason`() async throws {
        let fixture = try await ReceiptFixture()
        fixture.reader.know("xcode", as: .failure(.xcode))
        fixture.know("gems", bundleID: "com.example.gems", ids: ["1"])
        fixture.know("nobody", bundleID: "com.example.other", ids: ["1"])
        func message(_ receipt: String, to path: String = ReceiptFixture.dropIn) async throws -> String {
            let errors = try fixture.errors(try await fixture.upload(receipt, to: path))
            #expect(errors.keys.map(\.self) == ["receipt"])
            return try #require(errors["receipt"]?.first)
        }
        #expect(try await message("garbage").contains("cannot be read"))
        #expect(try await message("xcode").hasPrefix("XCODE_ENVIRONMENT: "))
        #expect(try await message("nobody").contains("of an app"))
        // The caller has no scope for the app of the receipt, which is there.
        #expect(try await message("gems") == message("nobody"))
        #expect(try await message("gems", to: ReceiptFixture.path) == message("nobody"))
    }

    @Test func `an app that is not configured for the receipt's environment says so`() async throws {
        let apps = AppCatalog([App(slug: "coins", bundleID: "com.example.coins", environments: [.production])])
        let stack = try await ServiceStack(apps: apps)
        stack.receiptReader.know(
            "sandbox",
            as: .success(
                ReceiptContent(
                    style: .unified, isVerified: true, bundleID: "com.example.coins",
                    environmentName: "ProductionSandbox", createdAt: nil, purchases: [])))
        let reply = try await RequestHandlerFixture(stack, scopes: [.receiptsWrite]).send(
            .post, ReceiptFixture.dropIn, body: #"{"receipt":"c2FuZGJveA=="}"#)
        #expect(reply.status == 422)
        #expect(try reply.json["errors"]?["receipt"]?[0]?.string?.hasPrefix("ENVIRONMENT_NOT_ALLOWED: ") == true)
    }

    @Test(
        arguments: [
            ("Production", "production"), ("Sandbox", "sandbox"), ("ProductionSandbox", "sandbox"), (nil, "production"),
        ] as [(String?, String)])
    func `environments are two, in small letters`(name: String?, shown: String) async throws {
        let fixture = try await ReceiptFixture()
        fixture.know("fresh", environment: name, ids: [])
        #expect(try await fixture.upload("fresh").json["environment"]?.string == shown)
    }

    @Test func `Base64 may have its lines broken, and nulls are as if left out`() async throws {
        let fixture = try await ReceiptFixture()
        let reply = try await fixture.handlers.send(
            .post, ReceiptFixture.dropIn,
            body:
                #"{"receipt":"Z2\r\n9v\n ZA==\n","country_code":null,"identifier_for_vendor":null,"user_identifier":null,"metadata":null}"#
        )
        #expect(reply.status == 200)
        #expect(try reply.json["user_identifier"] == .null && reply.json["metadata"] == .null)
    }

    @Test func `metadata has a limit, and is kept up to it`() async throws {
        let fixture = try await ReceiptFixture()
        let room = (16 << 10) - #"{"a":""}"#.utf8.count
        func metadata(_ count: Int) -> String { #""metadata":{"a":"\#(String(repeating: "x", count: count))"}"# }
        #expect(try await fixture.upload("good", metadata(room)).status == 200)
        let errors = try fixture.errors(try await fixture.upload("good", metadata(room + 1)))
        #expect(errors.keys.map(\.self) == ["metadata"])
    }

    @Test func `bodies may be larger than those of other routes, up to their own limit`() async throws {
        let fixture = try await ReceiptFixture()
        let large = String(repeating: "A", count: 2 << 20)
        #expect(try fixture.errors(await fixture.upload(large)).keys.map(\.self) == ["receipt"])
        let beyond = String(repeating: " ", count: 12 << 20) + "{}"
        #expect(try await fixture.handlers.send(.post, ReceiptFixture.dropIn, body: beyond).status == 413)
        let usual = String(repeating: " ", count: 1 << 20) + "{}"
        #expect(try await fixture.handlers.send(.post, "/v1/apps/coins/signedData:verify", body: usual).status == 413)
        #expect(try await fixture.handlers.send(.post, ReceiptFixture.path, body: usual).status == 422)
    }

    @Test func `the address is the one sent, or the request's, or none`() async throws {
        let fixture = try await ReceiptFixture(trustedProxies: ["10.0.0.0/8"])
        func address(_ rest: String, _ headers: HTTPFields = [:], peer: String?) async throws -> JSONValue? {
            try await fixture.upload("good", rest, headers: headers, peer: peer).json["ip_address"]
        }
        let forwarded: HTTPFields = [.xForwardedFor: "192.0.2.1, 198.51.100.7"]
        #expect(try await address(#""ip_address":"2001:db8::1""#, peer: "203.0.113.1") == "2001:db8::1")
        #expect(try await address("", peer: "203.0.113.1") == "203.0.113.1")
        #expect(try await address("", forwarded, peer: "203.0.113.1") == "203.0.113.1")
        #expect(try await address("", forwarded, peer: "10.0.0.1") == "198.51.100.7")
        #expect(try await address("", forwarded, peer: nil) == .null)
        for none in [#""ip_address":null"#, #""ip_address":"NULL""#] {
            #expect(try await address(none, forwarded, peer: "10.0.0.1") == .null)
        }
    }
}

extension HTTPField.Name {
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .via
}
