import StorePostgres
import TestSupport
import Testing

/// The contracts that every store keeps, on PostgreSQL, by statements that walk through no whole table.
@Suite(.needsPostgres)
struct PostgresContractTests {
    @Test(arguments: LinkStoreContract.cases)
    func `the PostgreSQL store keeps the contract of links`(contract: LinkStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: TransactionMemoryContract.cases)
    func `the PostgreSQL store keeps the contract of remembered identifiers`(contract: TransactionMemoryContract)
        async throws
    {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: CallerStoreContract.cases)
    func `the PostgreSQL store keeps the contract of callers`(contract: CallerStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: BudgetStoreContract.cases)
    func `the PostgreSQL store keeps the contract of budgets`(contract: BudgetStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: DeliveryStoreContract.cases)
    func `the PostgreSQL store keeps the contract of deliveries`(contract: DeliveryStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: ConsentStoreContract.cases)
    func `the PostgreSQL store keeps the contract of consent`(contract: ConsentStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: CallbackStoreContract.cases)
    func `the PostgreSQL store keeps the contract of callbacks`(contract: CallbackStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: NotificationStoreContract.cases)
    func `the PostgreSQL store keeps the contract of notifications`(contract: NotificationStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: QuarantineStoreContract.cases)
    func `the PostgreSQL store keeps the contract of the quarantine`(contract: QuarantineStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: EventStoreContract.cases)
    func `the PostgreSQL store keeps the contract of events`(contract: EventStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: CaseStoreContract.cases)
    func `the PostgreSQL store keeps the contract of cases`(contract: CaseStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: MaintenanceContract.cases)
    func `the PostgreSQL store keeps the contract of maintenance`(contract: MaintenanceContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: KeyStoreContract.cases)
    func `the PostgreSQL store keeps the contract of imported keys`(contract: KeyStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(nil, readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: StoredStateContract.cases)
    func `the PostgreSQL store keeps the contract of stored state`(contract: StoredStateContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: RefundReportStoreContract.cases)
    func `the PostgreSQL store keeps the contract of refund reports`(contract: RefundReportStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: UserExportContract.cases)
    func `the PostgreSQL store keeps the contract of exports`(contract: UserExportContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: UsageStoreContract.cases)
    func `the PostgreSQL store keeps the contract of usage`(contract: UsageStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }

    @Test(arguments: ReceiptStoreContract.cases)
    func `the PostgreSQL store keeps the contract of receipts`(contract: ReceiptStoreContract) async throws {
        try await PostgresFixture.run { fixture in
            try await contract.run { try await fixture.open(readers: 1) }
            try await fixture.expectNoWalks()
        }
    }
}
