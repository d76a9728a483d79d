import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// A folder of a test's own, gone when the test is.
final class StoreFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "purser-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The store's file, by the name that the store itself gives it.
    var path: String { url.appending(path: "purser.db").path }

    /// `secrets`: opens those of the installation; nil for a store without any.
    func open(_ secrets: UnsealedSecrets? = UnsealedSecrets()) async throws -> SQLiteStore {
        try await SQLiteStore.open(at: path, secrets: secrets)
    }

    /// The error of opening, nil when it opens after all.
    func failureOfOpening() async throws -> ServiceError? {
        do throws(ServiceError) {
            await (try await SQLiteStore.open(at: path)).close()
            return nil
        } catch {
            return error
        }
    }

    /// Works on the file as another program would.
    func withForeignConnection<Value>(_ work: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: path)
        let value = try queue.writeWithoutTransaction(work)
        try queue.close()
        return value
    }

    func permissions(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.appending(path: name).path)[.posixPermissions] as? Int
    }
}

extension SQLConnection {
    /// GRDB's own connection behind the one that the rules see.
    func sqlite() throws -> Database { try #require(self as? GRDBConnection).database }
}
