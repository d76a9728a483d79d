import Domain
import Foundation
import StoreSQLite
import TestSupport
import Testing

struct ContractTests {
    @Test(arguments: LinkStoreContract.cases)
    func `the SQLite store keeps the contract of links`(contract: LinkStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: LinkStoreContract.cases)
    func `the store in memory keeps the contract of links`(contract: LinkStoreContract) async throws {
        try await contract.run { InMemoryLinkStore() }
    }

    @Test func `an account once remembered is not forgotten by an entry without one`() async throws {
        let folder = try StoreFolder()
        for memory in [try await folder.open(), InMemoryTransactionMemory()] as [any TransactionMemory] {
            let with = KnownIdentifier(identifier: "1", environment: .sandbox, appTransactionID: "A")
            let without = KnownIdentifier(identifier: "1", environment: .sandbox, appTransactionID: nil)
            try await memory.remember([without], app: "coins")
            #expect(try await memory.known(app: "coins", identifiers: ["1", "2"]) == [without])
            try await memory.remember([with], app: "coins")
            try await memory.remember([without], app: "coins")
            #expect(try await memory.known(app: "coins", identifiers: ["1"]) == [with])
            #expect(try await memory.known(app: "gems", identifiers: ["1"]).isEmpty)
        }
    }
}
