import Domain
import Foundation
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct QueryPlanTests {
    @Test func `no statement walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await SQLiteStore.open(at: folder.path, maximumKnownIdentifiers: 1)
        let log = try await StatementLog(store)
        try await Self.useLinksAndCallers(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 13)
    }

    /// Calls every port in every way that makes a statement of its own.
    static func useLinksAndCallers(of store: SQLiteStore) async throws {
        let alice = try Link.sample(.transactionId, "1", user: "alice", source: .consumption)
        let declared = try Link.sample(.transactionId, "1", user: "alice", environment: .sandbox)
        let bob = try Link.sample(.transactionId, "1", user: "bob")
        _ = try await store.learn(alice)
        _ = try await store.declare(declared, transfer: false)
        _ = try await store.declare(bob, transfer: true)
        _ = try await store.links(app: "coins", user: bob.user)
        _ = try await store.links(app: "coins", targets: [bob.target])
        _ = try await store.knownUsers(app: "coins", matching: ["bob"])
        _ = try await store.end(app: "coins", user: bob.user, target: bob.target, at: Date())
        for identifier in ["1", "2"] {
            let entry = KnownIdentifier(identifier: identifier, environment: .sandbox, appTransactionID: nil)
            try await store.remember([entry], app: "coins")
        }
        _ = try await store.known(app: "coins", identifiers: ["1", "2"])
        _ = try await store.installationIdentifier(name: "page tokens") { [1] }
        let key = CallerKey(
            id: "ABCDEFGHIJ", caller: "shop", app: "coins", publicKey: [1], scopes: nil, createdAt: Date())
        _ = try await store.addCallerKey(key)
        _ = try await store.callerKey(id: key.id)
        _ = try await store.revokeCallerKey(id: key.id, caller: key.caller, at: Date())
        let token = AccessToken(id: "Ab12Cd34", digest: [UInt8](repeating: 1, count: 32), createdAt: Date())
        for binding in [CallerBinding.uid(1), .gid(2)] {
            _ = try await store.updateCaller("shop") { _ in
                StoredCaller(
                    name: "shop", createdAt: Date(), grants: ["coins": [.refundsRead]], tokens: [token],
                    bindings: [binding])
            }
        }
        try await store.noteCallerUses([CallerUse(caller: "shop", credential: .token(id: "a"), lastUsedAt: Date())])
        _ = try await store.callerGeneration()
        _ = try await store.removeCaller("shop", revokingKeysAt: Date())
        let call = BudgetedCall(
            app: "coins", endpoint: "Get Refund History", environment: .sandbox, caller: "shop", priority: .interactive)
        try await store.saveBudgetRecords([BudgetRecord(call: call, minute: 1, calls: 1)])
        _ = try await store.budgetRecords(of: 1...2)
        try await store.keepBudgetRecords(of: 1...2)
        try await store.replaceBudgetBlocks([
            BudgetBlock(app: "coins", endpoint: call.endpoint, environment: .sandbox, until: Date())
        ])
        _ = try await store.budgetBlocks(after: Date())
        #expect(await store.isUsable())
    }
}
