import StoreSQLite
import TestSupport
import Testing

struct NotificationContractTests {
    @Test(arguments: NotificationStoreContract.cases)
    func `the SQLite store keeps the contract of notifications`(contract: NotificationStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: QuarantineStoreContract.cases)
    func `the SQLite store keeps the contract of the quarantine`(contract: QuarantineStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: EventStoreContract.cases)
    func `the SQLite store keeps the contract of events`(contract: EventStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: CaseStoreContract.cases)
    func `the SQLite store keeps the contract of cases`(contract: CaseStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: MaintenanceContract.cases)
    func `the SQLite store keeps the contract of maintenance`(contract: MaintenanceContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }
}
