import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JSON
import Testing

/// `api/examples` is true: every exchange is replayed and compared member by member.
struct ExampleTests {
    /// Where the examples are.
    static var folder: URL {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.appending(path: "api/examples")
    }

    @Test func `every example goes as it is written`() async throws {
        try await Self.forEach { example, name, fixture in try await replay(example, name, fixture) }
    }

    /// Hands on every example in the order of their names, for one daemon in whose world it can be true.
    static func forEach(
        _ body: @Sendable (_ example: JSONValue, _ name: String, DaemonFixture) async throws -> Void
    ) async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted()
        #expect(names.count >= 9)
        var options = DaemonFixture.Options()
        options.hasDoors = true
        var policy = CallbackPolicy()
        policy.allowedHosts = ["shop.example.com"]
        options.callbacks = CallbacksConfiguration(policy: policy, certificateAuthorityFile: nil)
        try await DaemonFixture.with(options) { fixture in
            let world = try await world(fixture)
            for name in names {
                var text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                for (word, value) in world { text = text.replacingOccurrences(of: "{{\(word)}}", with: value) }
                try await body(try JSONValue(parsing: text), name, fixture)
            }
        }
    }

    /// Lets customers buy what the examples are about; the words that stand for it are those of the folder's README.
    private static func world(_ fixture: DaemonFixture) async throws -> [String: String] {
        let state = fixture.simulator.state
        let account = try state.createAccount(in: .sandbox).id
        let gems = try #require(try fixture.buy(account, "gems").transactionId)
        let refunded = try #require(try fixture.buy(account, "gems.500").transactionId)
        try state.refund(refunded)
        var subscription = TransactionPayload()
        subscription.bundleId = DaemonFixture.bundleID
        subscription.productId = "premium.monthly"
        subscription.type = .autoRenewableSubscription
        subscription.subscriptionGroupIdentifier = "21000001"
        subscription.price = 9990
        let subscriber = try state.createAccount(in: .sandbox).id
        let premium = try #require(try state.buy(subscription, by: subscriber).transactionId)
        let buyer = try state.createAccount(in: .production).id
        let ordered = try #require(try fixture.buy(buyer).transactionId)
        let device = try state.createAccount(in: .sandbox).id
        let fresh = try #require(try fixture.buy(device).transactionId)
        let signed = try await fixture.send("GET", "/v1/apps/coins/transactions/\(fresh)?include=signed").json["signed"]
        return [
            "signed": try #require(signed?.string), "receipt": try fixture.receipt(of: device),
            "forgedReceipt": try fixture.receipt(of: device, ReceiptForm(.alteredPayload)), "bought": fresh,
            "gems": gems, "refunded": refunded, "premium": premium, "order": try #require(try state.order(of: ordered)),
        ]
    }

    /// Replays an example by the REST face.
    func replay(_ example: JSONValue, _ name: String, _ fixture: DaemonFixture) async throws {
        let request = try #require(example["request"])
        let headers = request["headers"]?.object?.members.compactMap { member in
            member.value.string.map { (member.key, $0) }
        }
        let (method, path) = (try #require(request["method"]?.string), try #require(request["path"]?.string))
        let (status, body) =
            if example["listener"] == "admin" {
                try await Self.ask(LocalClient(socket: fixture.adminSocket), method, path, request["body"])
            } else {
                try await Self.ask(
                    fixture, method, path, Dictionary(headers ?? []) { first, _ in first }, request["body"])
            }
        #expect(JSONValue.number(JSONNumber(status)) == example["response"]?["status"], "\(name)")
        let expected = try #require(example["response"]?["body"])
        let difference = Self.difference(expected, body, at: "body")
        #expect(difference == nil, "\(name): \(difference ?? "")")
    }

    private static func ask(
        _ fixture: DaemonFixture, _ method: String, _ path: String, _ headers: [String: String], _ body: JSONValue?
    ) async throws -> (Int, JSONValue) {
        let reply = try await fixture.send(method, path, headers, body: body?.serializedString())
        return (reply.status, try reply.json)
    }

    private static func ask(
        _ operators: LocalClient, _ method: String, _ path: String, _ body: JSONValue?
    ) async throws -> (Int, JSONValue) {
        let reply = try #require(await operators.send(method, path, body: body))
        return (reply.status, try #require(reply.json))
    }

    /// Where an answer departs from an example; nil when it does not.
    static func difference(_ expected: JSONValue, _ actual: JSONValue, at path: String) -> String? {
        if expected == "{{any}}" { return nil }
        if let expected = expected.object, let actual = actual.object {
            guard Set(expected.keys) == Set(actual.keys) else { return "\(path) has the members \(actual.keys)" }
            for member in expected.members {
                guard let value = actual[member.key] else { return "\(path).\(member.key) is missing" }
                if let found = difference(member.value, value, at: "\(path).\(member.key)") { return found }
            }
            return nil
        }
        if let expected = expected.array, let actual = actual.array {
            guard expected.count == actual.count else { return "\(path) has \(actual.count) elements" }
            for (index, pair) in zip(expected, actual).enumerated() {
                if let found = difference(pair.0, pair.1, at: "\(path)[\(index)]") { return found }
            }
            return nil
        }
        return expected == actual ? nil : "\(path) is \(actual.serializedString())"
    }
}
