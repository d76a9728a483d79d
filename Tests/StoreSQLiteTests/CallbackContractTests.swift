import StoreSQLite
import TestSupport
import Testing

/// Callbacks in the SQLite store.
struct CallbackContractTests {
    @Test(arguments: CallbackStoreContract.cases)
    func `the SQLite store keeps the contract of callbacks`(contract: CallbackStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }
}
