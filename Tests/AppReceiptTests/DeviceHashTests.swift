import AppStoreSimulator
import Testing

@testable import AppReceipt

struct DeviceHashTests {
    @Test func `the hash tells the device that the receipt was made for`() throws {
        var issued = ReceiptFixtures.receipt()
        issued.deviceIdentifier = Array(1...16)
        let receipt = try ReceiptFixtures.verifier().verify(ReceiptFixtures.issuer.appReceipt(issued)).receipt
        #expect(try receipt.matches(deviceIdentifier: Array(1...16)))
        #expect(try !receipt.matches(deviceIdentifier: Array(2...17)))
        #expect(try !receipt.matches(deviceIdentifier: []))
    }

    @Test func `the hash covers the bundle id as it is encoded`() throws {
        // SHA-1 of 16 zeros, "ab", and 0C 01 78.
        let content = BER.content([
            BER.attribute(2, [0x0C, 0x01, 0x78]), BER.attribute(4, [0x61, 0x62]),
            BER.attribute(
                5,
                [
                    0x78, 0xF5, 0x06, 0x06, 0xBA, 0x7B, 0x2B, 0x5C, 0x49, 0x5F, 0x16, 0x4D, 0x9B, 0x59, 0xCF, 0xF8,
                    0xC6, 0xCF, 0x4B, 0x9E,
                ]),
        ])
        let receipt = try ReceiptParser.parse(content, ReceiptLimits())
        #expect(try receipt.matches(deviceIdentifier: [UInt8](repeating: 0, count: 16)))
    }
}
