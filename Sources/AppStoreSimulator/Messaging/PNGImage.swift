/// What the bytes of a PNG file tell about the picture; the pixels themselves are not decoded.
///
/// Source: https://www.w3.org/TR/png-3/
struct PNGImage: Sendable, Equatable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// Colour types without an alpha channel, with the depths that each may have.
    private static let depths: [UInt8: Set<UInt8>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    /// In pixels.
    let width: UInt32
    /// In pixels.
    let height: UInt32
    /// Whether a pixel can be transparent: by an alpha channel or a transparent colour.
    let hasTransparency: Bool

    /// Reads a file; nil unless all of its chunks are whole and where they belong.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.signature), let chunks = Self.chunks(bytes[Self.signature.count...]),
            let header = chunks.first, header.type == "IHDR", header.data.count == 13,
            let end = chunks.last, end.type == "IEND", end.data.isEmpty
        else { return nil }
        let fields = Array(header.data)
        (width, height) = (Self.integer(fields[0..<4]), Self.integer(fields[4..<8]))
        let (depth, colourType) = (fields[8], fields[9])
        guard 1...UInt32(Int32.max) ~= width, 1...UInt32(Int32.max) ~= height,
            Self.depths[colourType]?.contains(depth) ?? false, fields[10] == 0, fields[11] == 0, fields[12] <= 1
        else { return nil }
        let types = chunks.map(\.type)
        guard types.contains("IDAT"), colourType != 3 || types.contains("PLTE"),
            types.count(where: { $0 == "IHDR" }) == 1, types.count(where: { $0 == "IEND" }) == 1
        else { return nil }
        hasTransparency = colourType == 4 || colourType == 6 || types.contains("tRNS")
    }

    private struct Chunk {
        let type: String
        let data: ArraySlice<UInt8>
    }

    /// Takes the chunks apart and checks their sums.
    private static func chunks(_ bytes: ArraySlice<UInt8>) -> [Chunk]? {
        var chunks: [Chunk] = []
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 12 else { return nil }
            let length = Int(integer(rest.prefix(4)))
            guard length <= rest.count - 12 else { return nil }
            let checked = rest.dropFirst(4).prefix(4 + length)
            guard CRC32.checksum(checked) == integer(rest.dropFirst(8 + length).prefix(4)) else { return nil }
            chunks.append(Chunk(type: String(decoding: checked.prefix(4), as: UTF8.self), data: checked.dropFirst(4)))
            rest = rest.dropFirst(12 + length)
        }
        return chunks
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
