@testable import AppStoreSimulator

/// Makes PNG files, good and bad.
enum PNGFile {
    /// A file with the dimensions and kind of pixel that are given; nobody decodes its pixels.
    static func bytes(
        width: UInt32 = 3840, height: UInt32 = 2160, depth: UInt8 = 8, colourType: UInt8 = 2,
        extra: [(String, [UInt8])] = []
    ) -> [UInt8] {
        let header = integer(width) + integer(height) + [depth, colourType, 0, 0, 0]
        let chunks = [("IHDR", header)] + extra + [("IDAT", [1, 2, 3]), ("IEND", [])]
        return signature + chunks.flatMap { chunk($0.0, $0.1) }
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + data
        return integer(UInt32(data.count)) + checked + integer(CRC32.checksum(checked))
    }

    private static func integer(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
