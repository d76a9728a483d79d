import StoreSQL
import StoreSQLite
import Testing

struct ReleaseMemoryTests {
    @Test func `releases outlast the store's closing`() async throws {
        let folder = try StoreFolder()
        let first = try await folder.open()
        #expect(try await !first.hasRelease(bundleID: "com.example.coins"))
        try await first.rememberReleases(ofBundleIDs: ["com.example.coins", "com.example.gems"])
        try await first.rememberReleases(ofBundleIDs: ["com.example.coins"])
        await first.close()
        let second = try await folder.open()
        #expect(try await second.hasRelease(bundleID: "com.example.coins"))
        #expect(try await second.hasRelease(bundleID: "com.example.gems"))
        #expect(try await !second.hasRelease(bundleID: "com.example.other"))
    }
}
