import CPostgres

/// What a statement gave: rows, or how many it changed.
///
/// It lives on the thread of its connection.
package final class PostgresResult {
    private let result: OpaquePointer

    /// The names of the columns, in the server's lower case.
    package private(set) lazy var columnNames: [String] = (0..<PQnfields(result)).map { column in
        PQfname(result, column).map { String(cString: $0) } ?? ""
    }

    /// Takes over what libpq returned.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    package var rowCount: Int { Int(PQntuples(result)) }
    package var columnCount: Int { Int(PQnfields(result)) }

    /// How many rows the statement inserted, changed or deleted.
    package var affectedRows: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, CInt(row), CInt(column)) != 0 }

    /// The value as the server writes it; nil for NULL.
    package func text(_ row: Int, _ column: Int) -> String? {
        guard !isNull(row, column) else { return nil }
        return String(decoding: raw(row, column), as: UTF8.self)
    }

    /// A whole number or a truth value, which is 1 or 0; nil for NULL.
    ///
    /// - Throws: ``PostgresError`` for anything else.
    package func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard !isNull(row, column) else { return nil }
        let raw = raw(row, column)
        if PQftype(result, CInt(column)) == Self.booleanType { return raw.first == UInt8(ascii: "t") ? 1 : 0 }
        guard let number = Int64(String(decoding: raw, as: UTF8.self)) else {
            throw PostgresError(.value, "a column does not hold a whole number", during: "read")
        }
        return number
    }

    /// Bytes; nil for NULL.
    ///
    /// - Throws: ``PostgresError`` where the column has another type than `bytea`.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        guard !isNull(row, column) else { return nil }
        guard PQftype(result, CInt(column)) == Self.bytesType else {
            throw PostgresError(.value, "a column does not hold bytes", during: "read")
        }
        // `\x` and two digits a byte: the output that servers have by default since 9.0.
        let digits = raw(row, column).dropFirst(2)
        guard digits.count.isMultiple(of: 2) else {
            throw PostgresError(.value, "bytes are not in hexadecimal digits", during: "read")
        }
        return [UInt8](unsafeUninitializedCapacity: digits.count / 2) { buffer, count in
            var index = digits.startIndex
            while index < digits.endIndex {
                buffer[count] = Self.digit(digits[index]) << 4 | Self.digit(digits[index + 1])
                count += 1
                index += 2
            }
        }
    }

    /// A value by the type of its column: whole numbers and truth values, which are 1 or 0; bytes; everything else as text.
    ///
    /// - Throws: ``PostgresError`` for a value that its type should not have.
    package func value(_ row: Int, _ column: Int) throws(PostgresError) -> PostgresValue {
        guard !isNull(row, column) else { return .null }
        switch PQftype(result, CInt(column)) {
        case let type where type == Self.booleanType || Self.wholeTypes.contains(type):
            return try integer(row, column).map { .integer($0) } ?? .null
        case Self.bytesType: return try bytes(row, column).map { .bytes($0) } ?? .null
        case Self.numericType:
            // Sums of whole numbers are such.
            let text = String(decoding: raw(row, column), as: UTF8.self)
            return Int64(text).map { .integer($0) } ?? .text(text)
        default: return .text(String(decoding: raw(row, column), as: UTF8.self))
        }
    }

    private func raw(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, CInt(row), CInt(column)),
            count: Int(PQgetlength(result, CInt(row), CInt(column))))
    }

    private static func digit(_ character: UInt8) -> UInt8 {
        character < UInt8(ascii: "a") ? character &- UInt8(ascii: "0") : character &- UInt8(ascii: "a") &+ 10
    }

    // Numbers of types that never change.
    // Source: https://github.com/postgres/postgres/blob/REL_15_STABLE/src/include/catalog/pg_type.dat
    private static let booleanType: Oid = 16
    private static let bytesType: Oid = 17
    private static let wholeTypes: Set<Oid> = [20, 21, 23]
    private static let numericType: Oid = 1700
}
