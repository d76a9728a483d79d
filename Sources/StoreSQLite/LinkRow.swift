import Domain
import Foundation
import GRDB

/// A link as it stands in its table.
struct LinkRow: Sendable {
    let id: Int64
    let link: Link

    /// - Throws: `DatabaseError` when the row holds a value that this version does not know.
    init(_ row: Row) throws {
        id = row["id"]
        guard let kind = LinkTarget.Kind(rawValue: row["kind"]), let source = LinkSource(rawValue: row["source"]),
            let user = try? UserID(row["user"])
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "link \(id) holds an unknown value") }
        let environment: String? = row["environment"]
        link = Link(
            app: row["app"], user: user, target: LinkTarget(kind, row["value"]),
            environment: environment.flatMap(AppStoreEnvironment.init(rawValue:)), source: source,
            validFrom: Self.date(row["validFrom"]), validUntil: Self.date(row["validUntil"]),
            createdAt: Self.date(row["createdAt"]) ?? .distantPast, createdBy: row["createdBy"])
    }

    static func insert(_ link: Link, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO link
                    (app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                link.app, link.user.value, link.target.kind.rawValue, link.target.value, link.environment?.rawValue,
                link.source.rawValue, milliseconds(link.validFrom), milliseconds(link.validUntil),
                milliseconds(link.createdAt), link.createdBy, link.user.value.lowercased(),
            ])
    }

    /// Puts another statement of the same user in this row's place.
    func replace(with link: Link, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE link SET environment = ?, source = ?, validFrom = ?, createdAt = ?, createdBy = ? WHERE id = ?
                """,
            arguments: [
                link.environment?.rawValue, link.source.rawValue, Self.milliseconds(link.validFrom),
                Self.milliseconds(link.createdAt), link.createdBy, id,
            ])
    }

    func end(at date: Date, in database: Database) throws {
        try database.execute(
            sql: "UPDATE link SET validUntil = ? WHERE id = ?", arguments: [Self.milliseconds(date), id])
    }

    private static func milliseconds(_ date: Date?) -> Int64? {
        date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
    }

    private static func date(_ milliseconds: Int64?) -> Date? {
        milliseconds.map { Date(timeIntervalSince1970: TimeInterval($0) / 1000) }
    }
}
