import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import Testing

/// The main job, end to end.
struct MainJobTests {
    private func consumption(_ transactionID: String, _ more: String = "") -> String {
        #"{"transactionId":"\#(transactionID)","customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false\#(more)}"#
    }

    private func ids(_ reply: DaemonFixture.Reply) throws -> [String] {
        try reply.json["transactions"]?.array?.compactMap { $0["transaction"]?["transactionId"]?.string } ?? []
    }

    @Test func `consumption reaches Apple byte for byte and teaches a link`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let gems = try #require(try fixture.buy(account).transactionId)
            let body = consumption(gems, #","consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED""#)
            let reply = try await fixture.send("POST", "/v1/apps/coins/users/alice/consumption", body: body)
            #expect(reply.status == 200)
            #expect(try reply.json["state"] == "accepted")
            #expect(try reply.json["attempts"]?[0]?["httpStatus"] == 202)
            let received = try #require(
                fixture.simulator.state.received.requests.last { $0.operation == .sendConsumptionInformation })
            #expect(received.identifier == gems && received.keyID == "ABCDEFGHIJ")
            let sent: JSONValue = [
                "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
                "consumptionPercentage": 50000, "refundPreference": "GRANT_PRORATED",
            ]
            #expect(received.body == sent)
            let links = try await fixture.send("GET", "/v1/apps/coins/users/alice/links").json["links"]?.array
            #expect(links?.count == 1 && links?[0]["source"] == "consumption" && links?[0]["value"] == .string(gems))
        }
    }

    @Test func `the refund history of a user is whole, newest first, and without those of others`() async throws {
        try await DaemonFixture.with { fixture in
            let state = fixture.simulator.state
            let account = try state.createAccount(in: .sandbox).id
            var bought: [String] = []
            for number in 0..<45 {
                let id = try #require(try fixture.buy(account, "gems.\(number)").transactionId)
                try state.refund(id, Refund(date: 1_700_000_000_000 + Int64(number)))
                bought.append(id)
            }
            let app = try #require(try state.transaction(bought[0]).appTransactionId)
            _ = try await fixture.send("PUT", "/v1/apps/coins/users/alice/links/appTransactionId/\(app)")
            _ = try await fixture.send("PUT", "/v1/apps/coins/users/bob/links/transactionId/\(bought[7])")
            let reply = try await fixture.send("GET", "/v1/apps/coins/users/alice/refunds")
            #expect(reply.status == 200)
            #expect(try ids(reply) == Array(bought.reversed().filter { $0 != bought[7] }))
            #expect(try reply.json["othersOmitted"] == 1)
            #expect(try reply.json["complete"] == true)
            let entry = try #require(try reply.json["transactions"]?[0])
            #expect(entry["environment"] == "Sandbox" && entry["verified"] == true)
            #expect(fixture.calls(.getRefundHistory, .sandbox) == 3, "45 refunds are three pages")
        }
    }

    @Test func `one Apple Account behind many links is asked once`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            for number in 0..<10 {
                let id = try #require(try fixture.buy(account, "gems.\(number)").transactionId)
                try fixture.simulator.state.refund(id)
                _ = try await fixture.send("PUT", "/v1/apps/coins/users/alice/links/transactionId/\(id)")
            }
            let reply = try await fixture.send("GET", "/v1/apps/coins/users/alice/refunds")
            #expect(try ids(reply).count == 10)
            #expect(fixture.calls(.getRefundHistory) == 1)
            #expect(fixture.calls(.getTransactionInfo) == 0)
        }
    }

    @Test func `two users of one Apple Account each get their own, by the signed token`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let alice = UUID().uuidString
            let bob = UUID().uuidString.lowercased()
            let first = try #require(try fixture.buy(account, token: alice.lowercased()).transactionId)
            let second = try #require(try fixture.buy(account, token: bob).transactionId)
            for (user, own) in [(alice, first), (bob, second)] {
                _ = try await fixture.send("PUT", "/v1/apps/coins/users/\(user)/links/transactionId/\(own)")
                let reply = try await fixture.send("GET", "/v1/apps/coins/users/\(user)/transactions")
                #expect(try ids(reply) == [own])
                #expect(try reply.json["othersOmitted"] == 1)
            }
            let wrong = try await fixture.send(
                "POST", "/v1/apps/coins/users/\(alice)/consumption", body: consumption(second))
            #expect(wrong.status == 409)
            #expect(fixture.calls(.sendConsumptionInformation) == 0)
        }
    }

    @Test func `a user of two Apple Accounts, one of them in the sandbox, gets both`() async throws {
        try await DaemonFixture.with { fixture in
            let state = fixture.simulator.state
            let production = try fixture.buy(try state.createAccount(in: .production).id, date: 1_600_000_000_000)
            let sandbox = try fixture.buy(try state.createAccount(in: .sandbox).id, date: 1_650_000_000_000)
            for payload in [production, sandbox] {
                let id = try #require(payload.transactionId)
                _ = try await fixture.send("PUT", "/v1/apps/coins/users/alice/links/transactionId/\(id)")
            }
            let reply = try await fixture.send("GET", "/v1/apps/coins/users/alice/transactions")
            #expect(try ids(reply) == [sandbox.transactionId, production.transactionId])
        }
    }

    @Test func `a restored purchase is one purchase, whatever its transaction ids`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let theme = try #require(try fixture.buy(account, "theme", .nonConsumable).transactionId)
            try fixture.simulator.state.restore(theme)
            _ = try await fixture.send("PUT", "/v1/apps/coins/users/alice/links/originalTransactionId/\(theme)")
            let reply = try await fixture.send("GET", "/v1/apps/coins/users/alice/transactions")
            #expect(try ids(reply).count == 1)
            let history = try await fixture.send("GET", "/v1/apps/coins/transactions/\(theme)/history")
            #expect(try ids(history).count == 2, "Apple's own list shows both")
        }
    }

    @Test func `a family-shared purchase is refused here, with Apple's error`() async throws {
        try await DaemonFixture.with { fixture in
            let state = fixture.simulator.state
            let buyer = try state.createAccount(in: .production, family: "smith").id
            let member = try state.createAccount(in: .production, family: "smith").id
            let theme = try #require(try fixture.buy(buyer, "theme", .nonConsumable).transactionId)
            let shared = try #require(try state.share(theme, with: member).transactionId)
            let reply = try await fixture.send(
                "POST", "/v1/apps/coins/transactions/\(shared)/consumption", body: consumption(shared))
            #expect(reply.status == 400)
            #expect(try reply.json["violations"]?[0]?["appleErrorCode"] == 4_000_185)
            #expect(fixture.calls(.sendConsumptionInformation) == 0)
        }
    }

    @Test func `the sandbox is found after production once, and remembered over a restart`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let options = DaemonFixture.Options()
        do {
            try await DaemonFixture.run(options, folder, simulator) { fixture in
                let id = try #require(
                    try fixture.buy(try simulator.state.createAccount("sandy", in: .sandbox).id).transactionId)
                for _ in 0..<3 {
                    let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
                    #expect(try reply.json["environment"] == "Sandbox")
                }
                #expect(fixture.calls(.getTransactionInfo, .production) == 1)
                #expect(fixture.calls(.getTransactionInfo, .sandbox) == 3)
            }
            try await DaemonFixture.run(options, folder, simulator) { fixture in
                let id = try #require(simulator.state.received.requests.last?.identifier)
                simulator.state.clearReceived()
                #expect(try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)").status == 200)
                #expect(fixture.calls(.getTransactionInfo, .production) == 0)
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    @Test func `an id that is in neither environment is Apple's 404`() async throws {
        try await DaemonFixture.with { fixture in
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/999999999999999")
            #expect(reply.status == 404)
            #expect(try reply.json["apple"]?["errorName"] == "TransactionIdNotFoundError")
            #expect(try reply.json["apple"]?["environment"] == "Sandbox")
        }
    }
}
