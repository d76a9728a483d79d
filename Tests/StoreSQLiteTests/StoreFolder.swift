import Foundation
import StoreSQLite

/// A folder of a test's own, gone when the test is.
final class StoreFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "purser-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.appending(path: "purser.db").path }

    func open() async throws -> SQLiteStore { try await SQLiteStore.open(at: path) }
}
