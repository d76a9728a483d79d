import Domain
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct InstallationKeyTests {
    private struct NoRandomness: Error {}

    @Test func `a key is made once and kept, each under its name`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        #expect(try await first.installationIdentifier(name: "callerKeyIssuer") { [1, 2, 3] } == [1, 2, 3])
        #expect(try await first.installationIdentifier(name: "callerKeyIssuer") { [9] } == [1, 2, 3])
        await first.close()
        let second = try await folder.open()
        #expect(try await second.installationIdentifier(name: "callerKeyIssuer") { [9] } == [1, 2, 3])
        #expect(try await second.installationIdentifier(name: "other") { [9] } == [9])
    }

    @Test func `all who ask at once get the same key`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<100 {
                group.addTask { try await store.installationIdentifier(name: "callerKeyIssuer") { [UInt8(number)] } }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test func `no key is better than an empty one, or one without randomness`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        await #expect(throws: NoRandomness.self) {
            try await store.installationIdentifier(name: "callerKeyIssuer") { throw NoRandomness() }
        }
        #expect(try await store.installationIdentifier(name: "callerKeyIssuer") { [7] } == [7])
        await #expect(throws: ServiceError(.storeUnavailable, "")) {
            try await store.installationIdentifier(name: "empty") { [] }
        }
    }
}
