import AppStoreAPI
import Curl
import Foundation
import JOSE
import JSON
import OpenSSL
import Testing

@testable import AppStoreSimulator

struct ControlPortTests {
    private func json(_ response: HTTP1Client.Response) throws -> JSONValue { try JSONValue(parsing: response.body) }

    @Test func `a whole story can be told at the control port`() async throws {
        try await SimulatorFixture.with { fixture in
            let key = try json(await fixture.control("POST", "/keys", ["issuerId": "team-2"]))
            let keyID = try #require(key["keyId"]?.string)
            let app: JSONValue = ["appAppleId": 99, "issuerId": "team-2", "releasedToProduction": false]
            #expect(try await fixture.control("PUT", "/apps/com.example.story", app).status == 200)
            let account: JSONValue = ["id": "ann", "environment": "Sandbox", "family": "f"]
            #expect(try await fixture.control("POST", "/accounts", account).status == 201)
            let purchase: JSONValue = [
                "bundleId": "com.example.story", "productId": "gold", "type": "Auto-Renewable Subscription",
                "offerType": 1, "price": 1990,
            ]
            let bought = try await fixture.control("POST", "/accounts/ann/purchases", purchase)
            #expect(bought.status == 201)
            let id = try #require(try TransactionPayload(parsing: bought.body).transactionId)
            #expect(try await fixture.control("POST", "/transactions/\(id)/renewals").status == 201)
            #expect(try await fixture.control("POST", "/transactions/\(id)/restores").status == 201)
            #expect(
                try await fixture.control("POST", "/transactions/\(id)/upgrades", ["productId": "platinum"]).status
                    == 201)
            _ = try await fixture.control("POST", "/accounts", ["id": "bob", "environment": "Sandbox", "family": "f"])
            #expect(
                try await fixture.control("POST", "/transactions/\(id)/shares", ["accountId": "bob"]).status == 201)
            let refund = try await fixture.control(
                "POST", "/transactions/\(id)/refund", ["reason": 1, "percentage": 5000])
            #expect(try TransactionPayload(parsing: refund.body).revocationType == .refundProrated)
            #expect(try await fixture.control("DELETE", "/transactions/\(id)/refund").status == 200)
            let all = try json(await fixture.control("GET", "/accounts/ann/transactions"))
            #expect(all["transactions"]?.array?.count == 4)

            let pem = try #require(key["privateKey"]?.string)
            let signer = try ECPrivateKey(pkcs8PEM: Array(pem.utf8))
            var claims = fixture.claims()
            claims.issuer = "team-2"
            claims.others["bid"] = "com.example.story"
            let token = try JWT.sign(claims, keyID: keyID, with: signer)
            let info = try await fixture.call(.getTransactionInfo(transactionId: id), token: token)
            #expect(info.status == 200)
            let production = try await fixture.call(
                .getTransactionInfo(transactionId: id), in: .production, token: token)
            #expect(production.status == 401)
            #expect(try await fixture.control("DELETE", "/keys/\(keyID)").status == 204)
            #expect(try await fixture.call(.getTransactionInfo(transactionId: id), token: token).status == 401)
        }
    }

    @Test func `a public key of one's own is taken, anything else is named`() async throws {
        try await SimulatorFixture.with { fixture in
            let pair = try ECPrivateKey.generate()
            let good: JSONValue = [
                "issuerId": "team", "keyId": "OWN", "publicKey": .string(try pair.publicKey.pemRepresentation()),
            ]
            let answer = try json(await fixture.control("POST", "/keys", good))
            #expect(answer == ["issuerId": "team", "keyId": "OWN"])
            #expect(try await fixture.control("POST", "/keys", good).status == 409)
            let bad = try await fixture.control("POST", "/keys", ["issuerId": "team", "publicKey": "nonsense"])
            #expect(bad.status == 400)
            let token = try JWT.sign(fixture.claims(), keyID: "OWN", with: pair)
            #expect(try await fixture.call(.getTransactionInfo(transactionId: "1"), token: token).status == 404)
        }
    }

    @Test func `what is misspelt, of the wrong type or missing is an error that names it`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.createAccount("ann", in: .sandbox)
            let wrong: [(String, String, JSONValue?, String)] = [
                ("POST", "/keys", ["issuer": "team"], "issuer"), ("POST", "/keys", [:], "issuerId"),
                ("PUT", "/apps/a", ["appAppleId": "1", "issuerId": "team"], "appAppleId"),
                ("PUT", "/apps/a", ["appAppleId": 0, "issuerId": "team"], "Apple id"),
                ("POST", "/accounts", [:], "environment"),
                ("POST", "/accounts", ["environment": "Xcode"], "environment"),
                ("POST", "/accounts/ann/purchases", ["transactionId": "1"], "transactionId"),
                ("POST", "/accounts/ann/purchases", ["quantity": "1"], "quantity"),
                ("POST", "/accounts/ann/purchases", [], "object"),
                ("POST", "/faults", ["effect": "earthquake"], "effect"),
                ("POST", "/faults", ["effect": "latency"], "milliseconds"),
                ("POST", "/faults", ["effect": "garbage", "seconds": 1], "seconds"),
                ("POST", "/faults", ["effect": "status", "status": 99], "status"),
                ("POST", "/faults", ["effect": "garbage", "probability": 2], "probability"),
                ("POST", "/faults", ["effect": "garbage", "endpoint": "History"], "endpoint"),
                ("PUT", "/faults/seed", ["seed": -1], "seed"), ("PUT", "/settings", ["pageSize": 0], "pageSize"),
                ("PUT", "/rate-limits", ["rateLimits": [[:]]], "limit"), ("PUT", "/rate-limits", [:], "rateLimits"),
                ("GET", "/received?endpont=x", nil, "endpont"), ("GET", "/received?after=x", nil, "after"),
            ]
            for (method, path, body, name) in wrong {
                let response = try await fixture.control(method, path, body)
                #expect(response.status == 400, "\(method) \(path)")
                #expect(try json(response)["error"]?.string?.contains(name) == true, "\(method) \(path)")
            }
        }
    }

    @Test func `what is not there is not found, another method is named`() async throws {
        try await SimulatorFixture.with { fixture in
            for (method, path) in [
                ("GET", "/nothing"), ("GET", "/transactions/1"), ("DELETE", "/keys/none"),
                ("DELETE", "/faults/fault-1"),
                ("POST", "/accounts/none/purchases"), ("GET", "/accounts/none/transactions"), ("GET", "/transactions/"),
            ] {
                let response = try await fixture.control(
                    method, path, method == "POST" ? ["bundleId": "b", "productId": "p", "type": "Consumable"] : nil)
                #expect(response.status == 404, "\(method) \(path)")
            }
            #expect(try await fixture.control("PATCH", "/faults").status == 405)
        }
    }

    @Test func `every effect can be set by name and is listed with what is left of it`() async throws {
        try await SimulatorFixture.with { fixture in
            let faults: [JSONValue] = [
                ["effect": "status", "status": 500, "errorCode": 5_000_000, "errorMessage": "m", "retryAfter": "1"],
                ["effect": "latency", "milliseconds": 5], ["effect": "connectionReset", "afterProcessing": true],
                ["effect": "clockSkew", "seconds": -5],
                ["effect": "garbage", "count": 2, "skip": 1, "probability": 0.5],
                [
                    "effect": "truncatedBody", "endpoint": "Get Refund History", "environment": "Production",
                    "bundleId": "b",
                ],
            ]
            let tampering = Tampering.allCases.map { JSONValue.object(["effect": .string($0.rawValue)]) }
            for fault in faults + tampering {
                #expect(try await fixture.control("POST", "/faults", fault).status == 201)
            }
            let listed = try json(await fixture.control("GET", "/faults"))
            let entries = try #require(listed["faults"]?.array)
            #expect(entries.count == faults.count + tampering.count)
            for (entry, fault) in zip(entries, faults + tampering) {
                for member in fault.object?.members ?? [] { #expect(entry[member.key] == member.value) }
            }
            #expect(listed["seed"] == 1)
            #expect(try await fixture.control("PUT", "/faults/seed", ["seed": 42]).status == 204)
            #expect(try await fixture.control("DELETE", "/faults/fault-1").status == 204)
            #expect(fixture.state.faults.entries.count == entries.count - 1)
            #expect(fixture.state.faults.seed == 42)
            #expect(try await fixture.control("DELETE", "/faults").status == 204)
            #expect(fixture.state.faults.entries.isEmpty)
        }
    }

    @Test func `what came in is shown, filtered and counted`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let report = JSONValue.object(ConsumptionTests.good)
            _ = try await fixture.call(.getTransactionInfo(transactionId: id))
            _ = try await fixture.call(.getTransactionInfo(transactionId: id), in: .production)
            _ = try await fixture.call(.getRefundHistory(transactionId: id, revision: "x"))
            _ = try await fixture.call(.sendConsumptionInformation(transactionId: id), body: report.serialized())
            let all = try json(await fixture.control("GET", "/received"))
            #expect(all["received"]?.array?.count == 4)
            #expect(all["counters"]?.array?.count == 4)
            #expect(all["dropped"] == 0)
            let refunds = try json(await fixture.control("GET", "/received?endpoint=Get%20Refund%20History"))[
                "received"]
            #expect(refunds?[0]?["query"] == "revision=x")
            #expect(refunds?[0]?["errorCode"] == 4_000_005)
            #expect(refunds?[0]?["keyId"] == .string(SimulatorFixture.keyID))
            let production = try json(await fixture.control("GET", "/received?environment=Production"))["received"]
            #expect(production?.array?.count == 1)
            let last = try json(await fixture.control("GET", "/received?after=3"))["received"]
            #expect(last?[0]?["body"] == report)
            #expect(last?[0]?["status"] == 202)
            #expect(last?[0]?["number"] == 4)
            #expect(try await fixture.control("DELETE", "/received").status == 204)
            #expect(try json(await fixture.control("GET", "/received"))["received"] == [])
        }
    }

    @Test func `pages can be made smaller`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            #expect(try await fixture.control("PUT", "/settings", ["pageSize": 3]).status == 204)
            #expect(try json(await fixture.control("GET", "/settings")) == ["pageSize": 3])
            #expect(fixture.state.pageSize == 3)
        }
    }

    @Test func `certificates can be fetched`() async throws {
        try await SimulatorFixture.with { fixture in
            let root = try await fixture.control("GET", "/certificates/root.der").body
            #expect(try Certificate(der: root) == fixture.simulator.root)
            let pem = try await fixture.control("GET", "/certificates/root.pem").body
            #expect(try Certificate(pem: String(decoding: pem, as: UTF8.self)) == fixture.simulator.root)
            let tls = try await fixture.control("GET", "/certificates/tls-ca.pem").body
            #expect(try Certificate(pem: String(decoding: tls, as: UTF8.self)) == fixture.simulator.tlsAuthority)
        }
    }

    @Test func `a reset forgets keys, apps and accounts`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            #expect(try await fixture.control("POST", "/reset").status == 204)
            #expect(try json(await fixture.control("GET", "/keys")) == ["keys": []])
            #expect(try json(await fixture.control("GET", "/apps")) == ["apps": []])
            #expect(try json(await fixture.control("GET", "/accounts")) == ["accounts": []])
        }
    }

    @Test func `the handbook shows every route and every effect`() throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let handbook = try String(contentsOf: repository.appending(path: "docs/simulator.md"), encoding: .utf8)
        for route in ControlService.routes {
            #expect(handbook.contains("`\(route.method) \(route.path)`"), "\(route.method) \(route.path)")
        }
        for tampering in Tampering.allCases.map(\.rawValue) + ReceiptTampering.allCases.map(\.rawValue) {
            #expect(handbook.contains("`\(tampering)`"))
        }
    }
}
