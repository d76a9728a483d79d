import CPostgres

extension PostgresConnection {
    /// How many bytes are gathered before they go to the server: 64 KiB.
    private static let copyBufferSize = 1 << 16

    /// Writes any number of rows with one statement, many times as quickly as by one statement each.
    ///
    /// - Parameters:
    ///   - sql: a `COPY … FROM STDIN (FORMAT binary)` of columns that are BIGINT, TEXT or BYTEA.
    ///   - next: gives the next row, a value for each column; nil at the end.
    /// - Returns: how many rows were written.
    /// - Throws: ``PostgresError``, or what `next` throws; none is written then.
    ///
    /// Source: https://www.postgresql.org/docs/15/sql-copy.html
    @discardableResult package func copy(_ sql: String, next: () throws -> [PostgresValue]?) throws -> Int {
        try beginCopy(sql)
        do {
            var buffer = CopyBuffer()
            while let row = try next() {
                try buffer.add(row)
                if buffer.bytes.count >= Self.copyBufferSize { try send(&buffer) }
            }
            buffer.end()
            try send(&buffer)
        } catch {
            _ = try? endCopy(because: "the sender has none of it")
            throw error
        }
        return try endCopy()
    }

    private func send(_ buffer: inout CopyBuffer) throws(PostgresError) {
        try sendCopy(buffer.bytes)
        buffer.bytes.removeAll(keepingCapacity: true)
    }
}

/// Rows in PostgreSQL's binary form.
private struct CopyBuffer {
    /// The signature, no flags, and no extension of the header.
    private static let header = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)

    var bytes = header

    /// - Throws: ``PostgresError`` with a value that is longer than any column's.
    mutating func add(_ row: [PostgresValue]) throws(PostgresError) {
        append(UInt16(row.count))
        for value in row {
            switch value {
            case .null: append(UInt32.max)
            case .integer(let number):
                append(UInt32(8))
                append(UInt64(bitPattern: number))
            case .text(let text): try add(Array(text.utf8))
            case .bytes(let content): try add(content)
            }
        }
    }

    mutating func end() { append(UInt16.max) }

    private mutating func add(_ content: [UInt8]) throws(PostgresError) {
        guard content.count <= Int(Int32.max) else {
            throw PostgresError(.value, "a value is larger than 2 GiB", during: "copy")
        }
        append(UInt32(content.count))
        bytes += content
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
