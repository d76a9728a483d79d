import Domain
import Foundation
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// The names under which the audit speaks of users.
struct PseudonymTests {
    @Test func `a user has one name in the audit of an app, which no other has, and which lasts`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        #expect(try await store.existingAuditPseudonym(of: alice, app: "coins") == nil)
        let name = try await store.auditPseudonym(of: alice, app: "coins")
        let others = [
            try await store.auditPseudonym(of: bob, app: "coins"),
            try await store.auditPseudonym(of: alice, app: "gems"),
        ]
        #expect(Set(others + [name]).count == 3 && !name.contains("alice"))
        await store.close()
        let again = try await folder.open()
        #expect(try await again.auditPseudonym(of: alice, app: "coins") == name)
        #expect(try await again.existingAuditPseudonym(of: alice, app: "coins") == name)
    }

    @Test func `many who ask at once are told the same name`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let alice = try UserID("alice")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await store.auditPseudonym(of: alice, app: "coins") } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names.count == 1)
    }

    @Test func `an erasure forgets the name, in every spelling of the user's id and in this app alone`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let id = "018C0000-0000-7000-8000-00000000000A"
        let (upper, lower) = (try UserID(id), try UserID(id.lowercased()))
        for user in [upper, lower] {
            _ = try await store.recordConsent(.sample(user.value, true))
            _ = try await store.auditPseudonym(of: user, app: "coins")
        }
        let elsewhere = try await store.auditPseudonym(of: upper, app: "gems")
        _ = try await store.eraseUser(app: "coins", user: upper, at: CaseModel.time(1))
        #expect(try await store.existingAuditPseudonym(of: upper, app: "coins") == nil)
        #expect(try await store.existingAuditPseudonym(of: lower, app: "coins") == nil)
        #expect(try await store.existingAuditPseudonym(of: upper, app: "gems") == elsewhere)
    }
}
