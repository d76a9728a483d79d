import CPostgres
import Glibc

/// One connection to a server, for the one thread that owns it: its calls wait for the server.
///
/// A statement is prepared when it first runs, and kept. ``PostgresPool`` gives it to work on threads of its own.
package final class PostgresConnection {
    /// How many statements a connection keeps prepared; then it begins anew.
    private static let maximumStatements = 1000

    private let handle: OpaquePointer
    /// Prepared statements by their text.
    private var statements: [String: String] = [:]
    private var nextStatement = 0
    /// What its user keeps for as long as the connection lasts.
    package var attachment: AnyObject?

    /// Connects, and waits for that.
    ///
    /// - Throws: ``PostgresError`` of kind `connection` or `authentication`.
    package init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let parameters = try configuration.parameters()
        let names = parameters.map { strdup($0.name) }
        let values = parameters.map { strdup($0.value) }
        defer {
            for text in names { free(text) }
            for text in values {
                // One is the password.
                if let text { explicit_bzero(text, strlen(text)) }
                free(text)
            }
        }
        let keywords = names.map { UnsafePointer($0) } + [nil]
        let connection = PQconnectdbParams(keywords, values.map { UnsafePointer($0) } + [nil], 0)
        guard let connection else { throw PostgresError(connecting: nil) }
        guard PQstatus(connection) == CONNECTION_OK else {
            let error = PostgresError(connecting: connection)
            PQfinish(connection)
            throw error
        }
        handle = connection
        // Notices would go to our standard error.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    /// Whether the server can still be spoken to, as far as is known without asking.
    package var isUsable: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Whether a transaction is under way, sound or not.
    package var isInsideTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// The server's version: 150004 is 15.4.
    package var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Looks, without waiting, whether the server has ended the connection while nobody used it.
    package func isStillOpen() -> Bool {
        var watched = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, 0) > 0 {
            // Notices may be there too; an end is what cannot be read.
            guard PQconsumeInput(handle) == 1, isUsable else { return false }
        }
        return isUsable
    }

    /// Runs one statement, whose values stand as `$1`, `$2`, … in it.
    ///
    /// - Returns: its rows, or how many it changed.
    /// - Throws: ``PostgresError``
    @discardableResult package func execute(
        _ sql: String, _ values: [PostgresValue] = []
    ) throws(PostgresError) -> PostgresResult {
        let name = if let known = statements[sql] { known } else { try prepare(sql) }
        let parameters = try PostgresParameters(values)
        let result = parameters.withPointers { pointers in
            PQexecPrepared(handle, name, parameters.count, pointers, parameters.lengths, parameters.formats, 0)
        }
        return try checked(result, during: "execute")
    }

    /// Runs one statement that is not worth being kept prepared.
    ///
    /// - Returns: its rows, or how many it changed.
    /// - Throws: ``PostgresError``
    @discardableResult package func executeOnce(
        _ sql: String, _ values: [PostgresValue] = []
    ) throws(PostgresError) -> PostgresResult {
        let parameters = try PostgresParameters(values)
        let result = parameters.withPointers { pointers in
            PQexecParams(handle, sql, parameters.count, nil, pointers, parameters.lengths, parameters.formats, 0)
        }
        return try checked(result, during: "execute")
    }

    /// Runs statements without values, several if they are separated by semicolons; nothing is prepared.
    ///
    /// - Throws: ``PostgresError``
    package func run(script: String) throws(PostgresError) {
        _ = try checked(PQexec(handle, script), during: "execute")
    }

    private func prepare(_ sql: String) throws(PostgresError) -> String {
        if statements.count >= Self.maximumStatements {
            statements = [:]
            try run(script: "DEALLOCATE ALL")
        }
        nextStatement += 1
        let name = "s\(nextStatement)"
        _ = try checked(PQprepare(handle, name, sql, 0, nil), during: "prepare")
        statements[sql] = name
        return name
    }

    private func checked(_ result: OpaquePointer?, during operation: String) throws(PostgresError) -> PostgresResult {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            if let result { return PostgresResult(result) }
        default: break
        }
        let error = PostgresError(result, connection: handle, during: operation)
        PQclear(result)
        throw error
    }

    // MARK: Copies

    /// Begins to send rows; ``sendCopy(_:)`` sends them and ``endCopy(because:)`` must follow.
    func beginCopy(_ sql: String) throws(PostgresError) {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else {
            throw PostgresError(result, connection: handle, during: "copy")
        }
    }

    func sendCopy(_ bytes: [UInt8]) throws(PostgresError) {
        let sent = bytes.withUnsafeBytes { buffer in
            PQputCopyData(handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(buffer.count))
        }
        guard sent == 1 else { throw PostgresError(nil, connection: handle, during: "copy") }
    }

    /// Ends it, so that all rows are written; with a reason none is.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``PostgresError``, always where there is a reason.
    @discardableResult func endCopy(because reason: String? = nil) throws(PostgresError) -> Int {
        guard PQputCopyEnd(handle, reason) == 1 else {
            throw PostgresError(nil, connection: handle, during: "copy")
        }
        let result = try checked(PQgetResult(handle), during: "copy")
        // The end of the results, behind which the next statement may come.
        PQclear(PQgetResult(handle))
        return result.affectedRows
    }

    // MARK: Notifications

    /// What another connection has told a channel.
    package struct Notification: Sendable, Equatable {
        package let channel: String
        package let payload: String
    }

    /// Takes what has come, without waiting.
    ///
    /// - Throws: ``PostgresError`` when the connection has ended.
    func takeNotifications() throws(PostgresError) -> [Notification] {
        guard PQconsumeInput(handle) == 1, isUsable else {
            throw PostgresError(nil, connection: handle, during: "listen")
        }
        var found: [Notification] = []
        while let notification = PQnotifies(handle) {
            found.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return found
    }

    /// The socket, for who waits for it.
    var descriptor: CInt { PQsocket(handle) }
}

/// The libpq that this process runs with.
package enum PostgresLibrary {
    /// Such as `15.4`.
    package static var version: String {
        // 150004 is 15.4.
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
