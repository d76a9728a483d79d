import StoreSQLite
import TestSupport
import Testing

struct DeliveryContractTests {
    @Test(arguments: DeliveryStoreContract.cases)
    func `the SQLite store keeps the contract of deliveries`(contract: DeliveryStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: ConsentStoreContract.cases)
    func `the SQLite store keeps the contract of consent`(contract: ConsentStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }
}
