import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What the routes say while nobody can tell which erased users had withdrawn consent: nothing is taken for Apple, the rest goes
/// on.
struct ConsentUnknownRoutesTests {
    /// Routes over a store that was sealed under another master key than the one that is given, in which alice was erased.
    private func fixture() async throws -> RequestHandlerFixture {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-unknown-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "purser.db").path
        let store = try await SQLiteStore.open(at: file, secrets: UnsealedSecrets(masterKeyID: "lost"))
        _ = try await store.recordConsent(.sample("alice", false))
        _ = try await store.eraseUser(app: "coins", user: UserID("alice"), at: ServiceStack.now)
        try await store.take(.sample("r", type: "RESCIND_CONSENT", transaction: .sample(id: "7", account: "704")))
        _ = try await store.declare(.sample(.appTransactionId, "704", user: "bob"), transfer: false)
        await store.close()
        let stack = try await ServiceStack(
            apps: RequestHandlerFixture.apps, accounts: [[.sample(id: "1", account: "705")]], backup: file,
            acceptedLosses: ["lost"])
        return RequestHandlerFixture(stack, scopes: Set(Scope.allCases))
    }

    private static let consumption =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    @Test(arguments: ["/v1/apps/coins/transactions/1/consumption", "/v1/apps/coins/users/carol/consumption"])
    func `an answer for Apple is not taken, and the reason is told`(target: String) async throws {
        let fixture = try await fixture()
        let body =
            target.contains("carol") ? Self.consumption.dropLast() + #","transactionId":"1"}"# : Self.consumption[...]
        let reply = try await fixture.send(.post, target, body: String(body))
        #expect(try reply.status == 503 && reply.json["reason"] == "CONSENT_UNKNOWN", "\(reply.body)")
        #expect(fixture.gateway.handOvers.isEmpty)
    }

    @Test func `consent that would lift a withdrawal is not recorded, a withdrawal is`() async throws {
        let fixture = try await fixture()
        let target = "/v1/apps/coins/users/alice/consent"
        let given = try await fixture.send(.put, target, body: #"{"consented":true,"source":"settings"}"#)
        #expect(try given.status == 503 && given.json["reason"] == "CONSENT_UNKNOWN")
        let withdrawn = try await fixture.send(.put, target, body: #"{"consented":false,"source":"settings"}"#)
        #expect(withdrawn.status == 200)
        #expect(try await fixture.send(.get, target).status == 200)
    }

    @Test func `a user's overview is there, and says what is missing`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(.get, "/v1/apps/coins/users/bob")
        let overview = try reply.json
        #expect(reply.status == 200 && overview["complete"] == false && overview["guardianRescissions"] == nil)
        #expect(overview["incompleteReason"]?.string?.hasPrefix("Who has withdrawn consent") == true)
        #expect(overview["links"]?.array?.count == 1)
        #expect(try await fixture.send(.get, "/v1/apps/coins/transactions/1").status == 200)
    }

    @Test func `an operator cannot release it, and is told why`() async throws {
        let fixture = try await fixture()
        await #expect(throws: ServiceError(.consentUnknown, "")) {
            try await fixture.stack.services.operations.store.releaseSending(by: .daemon)
        }
    }
}
