package import Domain
package import Foundation
import GRDB

extension SQLiteStore: CallerKeyStore {
    package func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool {
        try await write("keep a caller key") { database in
            try CallerKeyRow.insert(key, into: database)
            return database.changesCount == 1
        }
    }

    package func callerKey(id: String) async throws(ServiceError) -> CallerKey? {
        try await read("read a caller key") { try CallerKeyRow.fetch(id: id, from: $0)?.key }
    }

    package func callerKeys() async throws(ServiceError) -> [CallerKey] {
        try await read("read the caller keys") { database in
            try Row.fetchAll(database, sql: "SELECT * FROM callerKey ORDER BY id").map { try CallerKeyRow($0).key }
        }
    }

    package func revokeCallerKey(
        id: String, caller: String, at date: Date
    ) async throws(ServiceError) -> CallerKey? {
        try await write("revoke a caller key") { database in
            try database.execute(
                sql: "UPDATE callerKey SET revokedAt = ? WHERE keyId = ? AND caller = ? AND revokedAt IS NULL",
                arguments: [date.milliseconds, id, caller])
            guard let key = try CallerKeyRow.fetch(id: id, from: database)?.key, key.caller == caller else {
                return nil
            }
            return key
        }
    }
}
