import CPostgres

/// Why PostgreSQL, or libpq, has not done what it was asked.
///
/// It holds no value of a row and no password: of what the server says, the part that may quote values is left out.
package struct PostgresError: Error, Sendable, Equatable {
    /// What a caller may want to tell apart.
    package enum Kind: Sendable, Equatable {
        /// There is no connection: none could be made, or it ended. Whether a commit that was under way came through is
        /// not known.
        case connection
        /// The server has refused who we are or our password.
        case authentication
        /// The transaction is undone since it stood against another one; the same again may go through.
        case serialization
        /// A constraint of a table; ``PostgresError/constraint`` names it.
        case constraint
        /// The server takes nothing now: its disk is full, it may only be read, it has no connection left.
        case unavailable
        /// More wait for a connection than may.
        case tooManyWaiting
        /// The pool has been shut down.
        case shutDown
        /// A value that no column can hold, or that cannot be read as what was expected.
        case value
        case other
    }

    package let kind: Kind
    /// The server's five characters; nil where the server did not speak.
    ///
    /// Source: https://www.postgresql.org/docs/15/errcodes-appendix.html
    package let sqlState: String?
    package let text: String
    /// The constraint that was violated.
    package let constraint: String?
    /// What was being done: `connect`, `prepare`, `execute`.
    package let operation: String

    init(_ kind: Kind, _ text: String, during operation: String) {
        self.kind = kind
        self.text = text
        self.operation = operation
        sqlState = nil
        constraint = nil
    }

    /// What a result says that is none.
    init(_ result: OpaquePointer?, connection: OpaquePointer, during operation: String) {
        self.operation = operation
        let state = Self.field(result, DiagnosticField.sqlState)
        sqlState = state
        constraint = Self.field(result, DiagnosticField.constraint)
        let isLost = PQstatus(connection) != CONNECTION_OK
        kind = isLost ? .connection : Kind(sqlState: state ?? "")
        text =
            if let state, state.hasPrefix("22") {
                // Data exceptions quote the value.
                "a value is not as the column wants it"
            } else {
                Self.field(result, DiagnosticField.message) ?? Self.line(PQerrorMessage(connection))
            }
    }

    /// What libpq says of a connection that could not be made.
    init(connecting connection: OpaquePointer?) {
        let said = Self.line(PQerrorMessage(connection))
        let isRefused =
            connection.map { PQconnectionNeedsPassword($0) != 0 } ?? false
            || said.contains("authentication failed") || said.contains("no pg_hba.conf entry")
        self.init(isRefused ? .authentication : .connection, said, during: "connect")
    }

    /// The first line of a text of libpq's, without the line feed.
    private static func line(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "out of memory" }
        return String(cString: text).split(separator: "\n").first.map(String.init) ?? "no message"
    }

    private static func field(_ result: OpaquePointer?, _ code: CInt) -> String? {
        PQresultErrorField(result, code).map { String(cString: $0) }
    }

    /// Characters that name the fields of an error: `PG_DIAG_…` of `postgres_ext.h`, which Swift does not see.
    ///
    /// Source: https://www.postgresql.org/docs/15/protocol-error-fields.html
    private enum DiagnosticField {
        static let sqlState = CInt(UInt8(ascii: "C"))
        static let message = CInt(UInt8(ascii: "M"))
        static let constraint = CInt(UInt8(ascii: "n"))
    }
}

extension PostgresError.Kind {
    /// Sorts the server's codes, most by their class, the first two characters.
    init(sqlState: String) {
        self =
            switch sqlState {
            case "40001", "40P01": .serialization
            // The server ends, starts, or was told to end us.
            case "57P01", "57P02", "57P03": .connection
            case "25006": .unavailable
            default:
                switch sqlState.prefix(2) {
                case "08": .connection
                case "28": .authentication
                case "23": .constraint
                case "53", "58": .unavailable
                case "22": .value
                default: .other
                }
            }
    }
}

extension PostgresError: CustomStringConvertible {
    /// One line such as `execute: relation "x" does not exist (42P01)`.
    package var description: String { "\(operation): \(text)" + (sqlState.map { " (\($0))" } ?? "") }
}
