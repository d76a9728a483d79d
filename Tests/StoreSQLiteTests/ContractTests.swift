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

    @Test(arguments: TransactionMemoryContract.cases)
    func `the SQLite store keeps the contract of remembered identifiers`(
        contract: TransactionMemoryContract
    ) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: TransactionMemoryContract.cases)
    func `the memory in memory keeps the contract of remembered identifiers`(
        contract: TransactionMemoryContract
    ) async throws {
        try await contract.run { InMemoryTransactionMemory() }
    }

    @Test(arguments: CallerStoreContract.cases)
    func `the SQLite store keeps the contract of callers`(contract: CallerStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: CallerStoreContract.cases)
    func `the store in memory keeps the contract of callers`(contract: CallerStoreContract) async throws {
        try await contract.run { InMemoryCallerStore() }
    }

    @Test(arguments: BudgetStoreContract.cases)
    func `the SQLite store keeps the contract of budgets`(contract: BudgetStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test(arguments: BudgetStoreContract.cases)
    func `the store in memory keeps the contract of budgets`(contract: BudgetStoreContract) async throws {
        try await contract.run { InMemoryBudgetStore() }
    }
}
