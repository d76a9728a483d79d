import Domain
import Foundation
import GRDB
import HTTPTypes
import JSON
import OpenSSL
import TestSupport
import Testing

/// What the release before promised, on the database that it left, with the program of today.
struct ReleaseBeforeRoutesTests {
    private static let answer =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"#
        + #""consumptionPercentage":60000,"refundPreference":"DECLINE"}"#

    private func fixture() async throws -> RequestHandlerFixture {
        let file = FileManager.default.temporaryDirectory.appending(path: "purser-before-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: try ReleaseBefore.statements()) }
        try queue.close()
        let stack = try await ServiceStack(
            apps: RequestHandlerFixture.apps,
            // No case tells of her purchase.
            accounts: [[.sample(id: try #require(ReleaseBefore.transactions["carol"]), account: "704165192552988235")]],
            now: ReleaseBefore.now, backup: file.path,
            authenticationCode: { key, content in
                let secret = try? SecureBytes(count: key.count) { $0.copyBytes(from: key) }
                return secret.flatMap { try? HMACSHA256.authenticationCode(for: content, key: $0) } ?? []
            })
        return RequestHandlerFixture(stack, scopes: Set(Scope.allCases))
    }

    @Test func `what was queued or under way is sent, byte for byte, and nothing else`() async throws {
        let fixture = try await fixture()
        for (user, id) in ReleaseBefore.queued {
            let delivery = try await fixture.stack.delivery(id) { $0.state == .accepted }
            #expect(delivery.transactionID == ReleaseBefore.transactions[user])
        }
        let sent = fixture.gateway.handOvers.map(\.message)
        #expect(Set(sent.map(\.transactionID)) == Set(["erin", "jack"].compactMap { ReleaseBefore.transactions[$0] }))
        #expect(sent.count == 2 && sent.allSatisfy { $0.body == Array(Self.answer.utf8) && $0.version == .v2 })
    }

    @Test(
        arguments: [
            ("alice", ["answered"], 1_795_390_866_429), ("adam", ["decided"], 1_795_390_866_580),
            ("bob", ["declined"], 1_795_390_866_838),
            ("erin", ["open", "answered"], 1_795_390_868_732),
            ("gina", ["open"], 1_795_390_867_124),
            ("henry", ["open"], 1_795_390_867_241),
            ("jack", ["open", "answered"], 1_795_390_935_065),
            ("leo", ["open"], 1_795_390_868_395),
            ("mia", ["expired"], 1_795_347_600_000),
        ] as [(String, [String], Int64)])
    func `cases keep their state and their deadline`(user: String, states: [String], deadline: Int64) async throws {
        let fixture = try await fixture()
        let transaction = try #require(ReleaseBefore.transactions[user])
        let list = try await fixture.send(.get, "/v1/apps/coins/cases?transactionId=\(transaction)").json
        let refundCase = try #require(list["cases"]?.array?.first)
        #expect(list["cases"]?.array?.count == 1)
        #expect(refundCase["state"]?.string.map(states.contains) == true, "\(refundCase["state"] ?? .null)")
        let told = try #require(refundCase["deadline"]?.string)
        let date = try Date(told, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == deadline)
    }

    @Test func `what users and a guardian said is kept: nothing is sent about those who did not consent`() async throws
    {
        let fixture = try await fixture()
        let carols = try #require(ReleaseBefore.transactions["carol"])
        #expect(
            try await fixture.send(.put, "/v1/apps/coins/users/carol/links/transactionId/\(carols)").status == 201,
            "the erasure has taken the link")
        for user in ["bob", "carol", "leo"] {
            let transaction = try #require(ReleaseBefore.transactions[user])
            let reply = try await fixture.send(
                .post, "/v1/apps/coins/transactions/\(transaction)/consumption",
                body: Self.answer)
            #expect(reply.status == 409, "\(user)")
            #expect(!fixture.gateway.handOvers.contains { $0.message.transactionID == transaction }, "\(user)")
        }
        let erin = try await fixture.send(.get, "/v1/apps/coins/users/erin/consent").json
        #expect(erin["consent"]?["consented"] == true && erin["consent"]?["at"] == "2026-05-01T08:00:00.000Z")
    }

    @Test func `what a guardian took back before stands for the account, and only a guardian gives it again`()
        async throws
    {
        let fixture = try await fixture()
        let transaction = try #require(ReleaseBefore.transactions["leo"])
        for (guardian, statuses) in [(false, [409]), (true, [200, 202])] {
            let consent = #"{"consented":true,"source":"test","guardian":\#(guardian)}"#
            #expect(
                try await fixture.send(.put, "/v1/apps/coins/users/leo/consent", body: consent).status == 200)
            let reply = try await fixture.send(
                .post, "/v1/apps/coins/transactions/\(transaction)/consumption", body: Self.answer)
            #expect(statuses.contains(reply.status), "by a guardian: \(guardian)")
        }
    }

    @Test func `a case that had expired is open again when Apple reminds of it, and takes its answer`() async throws {
        let fixture = try await fixture()
        let transaction = try #require(ReleaseBefore.transactions["mia"])
        let hour = ReleaseBefore.now.timeIntervalSince(CaseModel.time(0)) / 3600
        try await fixture.stack.receive(
            .sample("reminder", at: hour, transaction: .sample(id: transaction, account: "704165192558100472")))
        let list = try await fixture.send(.get, "/v1/apps/coins/cases?transactionId=\(transaction)").json
        let refundCase = try #require(list["cases"]?.array?.first)
        #expect(list["cases"]?.array?.count == 1 && refundCase["owner"] == "mia")
        #expect(refundCase["state"] == "open" && refundCase["late"] == true)
        #expect(try #require(refundCase["secondsLeft"]?.int64) >= 43_199 && refundCase["reminders"]?.array?.count == 1)
        let reply = try await fixture.send(.post, "/v1/apps/coins/users/mia/consumption", body: Self.answer)
        #expect(reply.status == 200)
        #expect(try reply.json["caseId"] == refundCase["id"] && reply.json["warnings"]?.array?.isEmpty == false)
    }

    @Test func `callers read on from the cursor that they have, and an answer's key is still taken`() async throws {
        let fixture = try await fixture()
        let events = "/v1/apps/coins/events"
        let before = try await fixture.send(.get, "\(events)?after=0&limit=1000").json["events"]?.array ?? []
        #expect(before.count >= ReleaseBefore.latestEvent)
        let cursor = ReleaseBefore.latestEvent - 2
        let next = try await fixture.send(.get, "\(events)?after=\(cursor)&limit=1").json
        #expect(next["events"]?.array?.first == before[cursor])
        let other = Self.answer.replacing("60000", with: "50000")
        let reused = try await fixture.send(
            .post, "/v1/apps/coins/users/erin/consumption", body: other,
            headers: [try #require(HTTPField.Name("Idempotency-Key")): "answer-erin"])
        #expect(reused.status == 422)
    }
}
