/// A value on its way to the server, of one of the few types that we keep.
///
/// The server tells the type from where the value stands, so that a number may be compared with any column of numbers.
package enum PostgresValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The values of one call, in the form in which libpq wants them.
struct PostgresParameters {
    /// All values, one after the other, texts with the NUL that ends them.
    private var storage: [UInt8] = []
    /// Where each begins; nil for NULL.
    private var offsets: [Int?] = []
    private(set) var lengths: [CInt] = []
    /// 1 for bytes as they are, 0 for text.
    private(set) var formats: [CInt] = []

    var count: CInt { CInt(offsets.count) }

    /// - Throws: ``PostgresError`` for a text with a NUL, which no text of PostgreSQL's has.
    init(_ values: [PostgresValue]) throws(PostgresError) {
        for value in values {
            switch value {
            case .null: add(nil, isBinary: false)
            case .integer(let number): add("\(number)".utf8, isBinary: false)
            case .text(let text):
                guard !text.utf8.contains(0) else {
                    throw PostgresError(.value, "a text holds a NUL", during: "execute")
                }
                add(text.utf8, isBinary: false)
            case .bytes(let bytes): add(bytes, isBinary: true)
            }
        }
    }

    private mutating func add(_ bytes: String.UTF8View, isBinary: Bool) { add(Array(bytes), isBinary: isBinary) }

    private mutating func add(_ bytes: [UInt8]?, isBinary: Bool) {
        offsets.append(bytes.map { _ in storage.count })
        lengths.append(CInt(bytes?.count ?? 0))
        formats.append(isBinary ? 1 : 0)
        guard let bytes else { return }
        storage += bytes
        storage.append(0)
    }

    /// Lends a pointer to each value.
    func withPointers<Value>(_ body: ([UnsafePointer<CChar>?]) -> Value) -> Value {
        storage.withUnsafeBytes { buffer in
            body(
                offsets.map { offset in
                    guard let offset, let base = buffer.baseAddress else { return nil }
                    return (base + offset).assumingMemoryBound(to: CChar.self)
                })
        }
    }
}
