package import Domain
import Foundation
import GRDB

extension SQLiteStore: AuditPseudonymStore {
    package func auditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String {
        if let known = try await existingAuditPseudonym(of: user, app: app) { return known }
        return try await write("name a user for the audit") { database in
            try database.execute(
                sql: """
                    INSERT INTO auditPseudonym (app, user, pseudonym) VALUES (?, ?, ?)
                    ON CONFLICT (app, user) DO NOTHING
                    """,
                arguments: [app, LinkRow.bytes(user), UUID().uuidString.lowercased()])
            guard let pseudonym = try Self.pseudonym(user, app, in: database) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a user's name for the audit is missing")
            }
            return pseudonym
        }
    }

    package func existingAuditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? {
        try await read("read a user's name for the audit") { try Self.pseudonym(user, app, in: $0) }
    }

    private static func pseudonym(_ user: UserID, _ app: String, in database: Database) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT pseudonym FROM auditPseudonym WHERE app = ? AND user = ?",
            arguments: [app, LinkRow.bytes(user)])
    }
}
