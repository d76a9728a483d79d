package import Domain
import Foundation

extension SQLStore {
    package func auditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String {
        if let known = try await existingAuditPseudonym(of: user, app: app) { return known }
        return try await write("name a user for the audit") { database in
            try AuditPseudonymRow.make(of: user, app: app, in: database)
        }
    }

    package func existingAuditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? {
        try await read("read a user's name for the audit") {
            try AuditPseudonymRow.fetch(of: user, app: app, from: $0)
        }
    }
}

/// A user's name in the audit as it stands in its table.
enum AuditPseudonymRow {
    static func fetch(of user: UserID, app: String, from database: SQLDatabase) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT pseudonym FROM auditPseudonym WHERE app = ? AND user = ?",
            arguments: [app, LinkRow.bytes(user)])
    }

    /// The name, made if there is none yet.
    static func make(of user: UserID, app: String, in database: SQLDatabase) throws -> String {
        try database.execute(
            sql: """
                INSERT INTO auditPseudonym (app, user, pseudonym) VALUES (?, ?, ?)
                ON CONFLICT (app, user) DO NOTHING
                """,
            arguments: [app, LinkRow.bytes(user), UUID().uuidString.lowercased()])
        guard let pseudonym = try fetch(of: user, app: app, from: database) else {
            throw SQLError.damaged("a user's name for the audit is missing")
        }
        return pseudonym
    }
}
