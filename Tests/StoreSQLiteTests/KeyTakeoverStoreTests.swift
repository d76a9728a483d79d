import Domain
import Foundation
import StoreSQLite
import Testing

struct KeyTakeoverStoreTests {
    private func takeover(_ app: String, _ refused: String, _ key: String, _ seconds: TimeInterval) -> KeyTakeover {
        KeyTakeover(
            app: app, refusedKeyID: refused, keyID: key, at: Date(timeIntervalSince1970: 1_700_000_000.125 + seconds))
    }

    @Test func `take-overs outlast the store's closing, in the order in which they happened`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        #expect(try await first.keyTakeovers() == [])
        let takeovers = [
            takeover("gems", "A", "B", 0), takeover("coins", "A", "B", 1), takeover("coins", "B", "C", 2),
        ]
        try await first.replaceKeyTakeovers(takeovers.reversed())
        await first.close()
        let second = try await folder.open()
        #expect(try await second.keyTakeovers() == takeovers)
    }

    @Test func `what is kept takes the place of all that was`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.replaceKeyTakeovers([takeover("coins", "A", "B", 0), takeover("gems", "A", "B", 1)])
        try await store.replaceKeyTakeovers([takeover("coins", "A", "C", 5)])
        #expect(try await store.keyTakeovers() == [takeover("coins", "A", "C", 5)])
        try await store.replaceKeyTakeovers([])
        #expect(try await store.keyTakeovers() == [])
    }
}
