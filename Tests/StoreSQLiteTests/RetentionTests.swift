import Domain
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct RetentionTests {
    private func entries(_ numbers: Range<Int>) -> [KnownIdentifier] {
        numbers.map { KnownIdentifier(identifier: "\($0)", environment: .sandbox, appTransactionID: nil) }
    }

    private func remembered(_ store: SQLiteStore, of numbers: Range<Int>) async throws -> Set<KnownIdentifier> {
        Set(try await store.known(app: "coins", identifiers: Set(numbers.map(String.init))))
    }

    @Test func `beyond the maximum the oldest identifiers are forgotten`() async throws {
        let folder = try StoreFolder()
        let store = try await SQLiteStore.open(at: folder.path, maximumKnownIdentifiers: 10)
        for number in 0..<25 { try await store.remember(entries(number..<number + 1), app: "coins") }
        try await store.remember(entries(15..<25), app: "coins")
        #expect(try await remembered(store, of: 0..<25) == Set(entries(15..<25)))
        try await store.remember(entries(100..<130), app: "coins")
        #expect(try await remembered(store, of: 0..<130) == Set(entries(120..<130)))
    }

    @Test func `a lowered maximum is reached in small steps`() async throws {
        let folder = try StoreFolder()
        let generous = try await folder.open()
        try await generous.remember(entries(0..<2000), app: "coins")
        await generous.close()
        let store = try await SQLiteStore.open(at: folder.path, maximumKnownIdentifiers: 10)
        try await store.remember(entries(2000..<2001), app: "coins")
        #expect(try await remembered(store, of: 0..<2001) == Set(entries(501..<2001)))
        for number in 2001..<2010 { try await store.remember(entries(number..<number + 1), app: "coins") }
        #expect(try await remembered(store, of: 0..<2010) == Set(entries(2000..<2010)))
    }
}
