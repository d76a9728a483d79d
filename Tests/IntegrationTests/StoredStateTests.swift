import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// What is kept answers while Apple does not.
struct StoredStateTests {
    @Test func `while Apple is down, the status that it signed last is there for whoever asks for it`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let user = UUID().uuidString.lowercased()
            let state = fixture.simulator.state
            let account = try state.createAccount(in: .production).id
            let bought = try fixture.buy(account, "gold", .autoRenewableSubscription, token: user)
            let transaction = try #require(bought.transactionId)
            let path = "\(DaemonFixture.app)/users/\(user)"
            _ = try await fixture.send("PUT", "\(path)/links/transactionId/\(transaction)")
            try await Wait.until("the purchase to be told of") {
                try await fixture.send("GET", "\(path)/subscriptions?source=stored").status == 200
            }
            state.inject(Fault(.status(503)))
            #expect(try await fixture.send("GET", "\(path)/subscriptions").status >= 500)
            let stored = try await fixture.send("GET", "\(path)/subscriptions?source=stored").json
            #expect(stored["source"] == "stored" && stored["subscriptions"]?[0]?["status"] == 1)
            #expect(stored["subscriptions"]?[0]?["transaction"]?["transactionId"] == .string(transaction))
            let asOf = try #require(stored["subscriptions"]?[0]?["asOf"]?.string)
            _ = try state.expire(transaction)
            try await Wait.until("the end to be told of") {
                let now = try await fixture.send("GET", "\(path)/subscriptions?source=stored").json
                return now["subscriptions"]?[0]?["status"] == 2
                    && now["subscriptions"]?[0]?["asOf"]?.string ?? "" > asOf
            }
            let one = try await fixture.send("GET", "\(DaemonFixture.app)/transactions/\(transaction)?source=stored")
                .json
            #expect(one["source"] == "stored" && one["verified"] == true)
        }
    }

    @Test func `what Apple answered before is there as well, with the time at which it was signed`() async throws {
        try await DaemonFixture.with { fixture in
            let state = fixture.simulator.state
            let account = try state.createAccount(in: .production).id
            let bought = try fixture.buy(account, "gold", .autoRenewableSubscription)
            let transaction = "\(DaemonFixture.app)/transactions/\(try #require(bought.transactionId))"
            #expect(try await fixture.send("GET", "\(transaction)?source=stored").status == 404, "nobody has asked")
            let live = try await fixture.send("GET", transaction).json
            #expect(live["source"] == nil && live["asOf"] == nil)
            try await Wait.until("the answer to be kept") {
                try await fixture.send("GET", "\(transaction)?source=stored").status == 200
            }
            state.inject(Fault(.status(503)))
            #expect(try await fixture.send("GET", transaction).status >= 500)
            let stored = try await fixture.send("GET", "\(transaction)?source=stored").json
            #expect(stored["source"] == "stored" && stored["transaction"] == live["transaction"])
            let signed = try #require(live["transaction"]?["signedDate"]?.int64)
            let asOf = try Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                .parse(try #require(stored["asOf"]?.string))
            #expect(Int64((asOf.timeIntervalSince1970 * 1000).rounded()) == signed)
        }
    }
}
