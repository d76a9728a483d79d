import Foundation
import Testing

@testable import AppStoreSimulator

struct PNGImageTests {
    @Test func `a real file is read`() throws {
        // One red pixel, as other programs write it.
        let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
        let data = try #require(Data(base64Encoded: text))
        let image = try #require(PNGImage(Array(data)))
        #expect(image.width == 1 && image.height == 1 && !image.hasTransparency)
    }

    @Test func `checksums are those of the standard`() {
        #expect(CRC32.checksum(Array("123456789".utf8)) == 0xcbf4_3926)
    }

    @Test(arguments: [(0, false), (2, false), (3, false), (4, true), (6, true)] as [(UInt8, Bool)])
    func `colour types with an alpha channel are transparent`(colourType: UInt8, hasTransparency: Bool) throws {
        let image = try #require(
            PNGImage(PNGFile.bytes(colourType: colourType, extra: [("PLTE", [0, 0, 0])])))
        #expect(image.hasTransparency == hasTransparency)
    }

    @Test func `a transparent colour is transparency`() throws {
        let image = try #require(PNGImage(PNGFile.bytes(extra: [("tRNS", [0, 0])])))
        #expect(image.hasTransparency)
    }

    @Test func `what is not a whole file is none`() {
        let good = PNGFile.bytes()
        var wrongSum = good
        wrongSum[good.count - 1] ^= 1
        let header = PNGFile.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
        let bad: [[UInt8]] = [
            [], Array("GIF89a".utf8), PNGFile.signature, Array(good.dropLast()), good + [0], wrongSum,
            Array(good.dropLast(12)), good + PNGFile.chunk("IEND", []),
            PNGFile.signature + header + PNGFile.chunk("IEND", []),
            PNGFile.signature + PNGFile.chunk("IDAT", [1]) + header + PNGFile.chunk("IEND", []),
            PNGFile.bytes(width: 0), PNGFile.bytes(height: 0x8000_0000), PNGFile.bytes(depth: 4),
            PNGFile.bytes(colourType: 1), PNGFile.bytes(colourType: 3),
            PNGFile.signature + [0xff, 0xff, 0xff, 0xff] + Array("IHDR".utf8) + [0, 0, 0, 0],
        ]
        for bytes in bad { #expect(PNGImage(bytes) == nil, "\(bytes.count) bytes") }
        #expect(PNGImage(good) != nil)
    }
}
