/// What the rows of a table come to, whatever their order and whatever engine keeps them.
///
/// It is the sum of a digest of each row, so that neither side has to sort: what is lost, doubled or changed on the way changes it.
package struct TableDigest: Sendable, Equatable {
    /// Of one row: SHA-256.
    package typealias Function = @Sendable ([UInt8]) throws -> [UInt8]

    package private(set) var rowCount = 0
    /// The digests, added up in four parts of 64 bits each.
    private var sums: [UInt64] = [0, 0, 0, 0]

    package init() {}

    /// Takes a row's values into account.
    ///
    /// - Throws: what `digest` throws.
    package mutating func add(_ row: [SQLDatum], _ digest: Function) throws {
        var bytes: [UInt8] = []
        for value in row {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
            case .text(let text): Self.append(2, Array(text.utf8), to: &bytes)
            case .bytes(let content): Self.append(3, content, to: &bytes)
            }
        }
        for (index, byte) in try digest(bytes).prefix(32).enumerated() {
            sums[index / 8] &+= UInt64(byte) << UInt64(index % 8 * 8)
        }
        rowCount += 1
    }

    private static func append(_ kind: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(kind)
        withUnsafeBytes(of: UInt64(content.count).bigEndian) { bytes += $0 }
        bytes += content
    }

    /// 64 hexadecimal digits, for people who compare two of them.
    package var hexadecimal: String {
        sums.map { sum in
            let digits = String(sum, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
