import Foundation
import GRDB

/// Holds the write lock of a store's file on a connection of its own, as a backup or a shell may.
enum WriteLock {
    static func hold<Value: Sendable>(_ path: String, while work: () async throws -> Value) async throws -> Value {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
        let value = try await work()
        try await queue.writeWithoutTransaction { try $0.rollback() }
        try queue.close()
        return value
    }
}
