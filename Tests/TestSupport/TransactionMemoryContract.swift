package import Domain
import Testing

/// What every transaction memory must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct TransactionMemoryContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any TransactionMemory

    package let testDescription: String
    private let check: @Sendable (any TransactionMemory) async throws -> Void

    /// Runs the case on a fresh memory.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any TransactionMemory) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases: [TransactionMemoryContract] = [
        TransactionMemoryContract("what was remembered is known, for its app alone") { memory in
            let entry = KnownIdentifier(identifier: "1", environment: .sandbox, appTransactionID: "A")
            try await memory.remember([entry], app: "coins")
            #expect(try await memory.known(app: "coins", identifiers: ["1", "2"]) == [entry])
            #expect(try await memory.known(app: "gems", identifiers: ["1"]).isEmpty)
            #expect(try await memory.known(app: "coins", identifiers: []).isEmpty)
        },
        TransactionMemoryContract("one identifier has an entry in each environment") { memory in
            let entries = AppStoreEnvironment.allCases.map {
                KnownIdentifier(identifier: "1", environment: $0, appTransactionID: $0.rawValue)
            }
            try await memory.remember(entries, app: "coins")
            try await memory.remember(entries, app: "coins")
            let known = try await memory.known(app: "coins", identifiers: ["1"])
            #expect(known.count == 2)
            #expect(Set(known) == Set(entries))
        },
        TransactionMemoryContract("an account once remembered is not forgotten by an entry without one") { memory in
            let with = KnownIdentifier(identifier: "1", environment: .sandbox, appTransactionID: "A")
            let without = KnownIdentifier(identifier: "1", environment: .sandbox, appTransactionID: nil)
            try await memory.remember([without], app: "coins")
            #expect(try await memory.known(app: "coins", identifiers: ["1"]) == [without])
            try await memory.remember([with, without], app: "coins")
            #expect(try await memory.known(app: "coins", identifiers: ["1"]) == [with])
        },
        TransactionMemoryContract("a later account takes the place of an earlier one") { memory in
            for account in ["A", "B"] {
                let entry = KnownIdentifier(identifier: "1", environment: .production, appTransactionID: account)
                try await memory.remember([entry], app: "coins")
            }
            #expect(try await memory.known(app: "coins", identifiers: ["1"]).map(\.appTransactionID) == ["B"])
        },
        TransactionMemoryContract("thousands can be remembered and asked for at once") { memory in
            let entries = (0..<2000).map {
                KnownIdentifier(identifier: "\($0)", environment: .sandbox, appTransactionID: nil)
            }
            try await memory.remember(entries, app: "coins")
            try await memory.remember([], app: "coins")
            let known = try await memory.known(app: "coins", identifiers: Set((500..<3000).map(String.init)))
            #expect(Set(known) == Set(entries[500...]))
        },
    ]
}
