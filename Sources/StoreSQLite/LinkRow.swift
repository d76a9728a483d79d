import Domain
import Foundation
import GRDB

/// A link as it stands in its table.
struct LinkRow: Sendable {
    let id: Int64
    let link: Link

    /// Reads a row with all columns.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row) throws {
        id = try row.value("id")
        let environment: String? = try row.value("environment")
        link = Link(
            app: try row.value("app"), user: try Self.user(row.value("user")),
            target: LinkTarget(try Self.known(row, "kind"), try row.value("value")),
            environment: try environment == nil ? nil : Self.known(row, "environment"),
            source: try Self.known(row, "source"),
            validFrom: try row.value("validFrom", as: Int64?.self).map(Date.init(milliseconds:)),
            validUntil: try row.value("validUntil", as: Int64?.self).map(Date.init(milliseconds:)),
            createdAt: Date(milliseconds: try row.value("createdAt")),
            createdBy: try row.value("createdBy"))
    }

    static func insert(_ link: Link, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO link
                    (app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                link.app, bytes(link.user), link.target.kind.rawValue, link.target.value, link.environment?.rawValue,
                link.source.rawValue, link.validFrom?.milliseconds, link.validUntil?.milliseconds,
                link.createdAt.milliseconds, link.createdBy, folded(link.user.value),
            ])
    }

    /// Puts another statement of the same user in this row's place.
    func replace(with link: Link, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE link SET environment = ?, source = ?, validFrom = ?, createdAt = ?, createdBy = ? WHERE id = ?
                """,
            arguments: [
                link.environment?.rawValue, link.source.rawValue, link.validFrom?.milliseconds,
                link.createdAt.milliseconds, link.createdBy, id,
            ])
    }

    /// Ends the link.
    ///
    /// - Returns: the link as ended.
    @discardableResult
    func end(at date: Date, in database: Database) throws -> Link {
        try database.execute(
            sql: "UPDATE link SET validUntil = ? WHERE id = ?", arguments: [date.milliseconds, id])
        return link.with(validUntil: Date(milliseconds: date.milliseconds), createdAt: link.createdAt)
    }

    /// A user's id as the column `user` holds it.
    static func bytes(_ user: UserID) -> Data { Data(user.value.utf8) }

    /// The user's id that the column `user` holds.
    static func user(_ bytes: Data) throws -> UserID {
        guard let id = String(data: bytes, encoding: .utf8), let user = try? UserID(id) else { throw unknown("user") }
        return user
    }

    /// A user's id as the column `userFolded` holds it.
    static func folded(_ id: String) -> Data { Data(id.lowercased().utf8) }

    private static func known<Value: RawRepresentable>(_ row: Row, _ column: String) throws -> Value
    where Value.RawValue == String {
        guard let value = try Value(rawValue: row.value(column)) else { throw unknown(column) }
        return value
    }

    private static func unknown(_ column: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown value in column \(column) of table link")
    }
}

extension Link {
    /// The link as it comes back from its row: with an instant to the millisecond, from which the rules take the others.
    var asStored: Link {
        with(validUntil: validUntil, createdAt: Date(milliseconds: createdAt.milliseconds))
    }

    fileprivate func with(validUntil: Date?, createdAt: Date) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: validFrom,
            validUntil: validUntil, createdAt: createdAt, createdBy: createdBy)
    }
}
