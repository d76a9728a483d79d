import AppStoreSimulator
import Testing

@testable import AppReceipt

/// What Apple's receipt utility can do, without verifying anything.
struct TransactionIDExtractionTests {
    private func transactionID(_ bytes: [UInt8]) throws -> String? {
        try TransactionIDExtraction.transactionID(in: bytes)
    }

    private func fault(_ bytes: [UInt8]) -> ReceiptDecodingError.Reason? {
        do {
            _ = try transactionID(bytes)
            return nil
        } catch {
            return (error as? ReceiptDecodingError)?.reason
        }
    }

    @Test(arguments: ReceiptFixtures.forms)
    func `an app receipt gives its first transaction id, however it is written`(form: ReceiptForm) throws {
        #expect(try transactionID(ReceiptFixtures.appReceipt(form)) == "2000000100000000")
        #expect(try transactionID(ReceiptFixtures.appReceipt(form, purchases: 0)) == nil)
    }

    @Test func `a signature is not looked at`() throws {
        for tampering in [ReceiptTampering.wrongSignature, .foreignRoot, .missingLeafExtension] {
            #expect(try transactionID(ReceiptFixtures.appReceipt(ReceiptForm(tampering))) == "2000000100000000")
        }
    }

    @Test func `Xcode's receipts are of this form, and their ids too`() throws {
        var issued = ReceiptFixtures.receipt(purchases: 1)
        issued.purchases[0].transactionID = "0"
        #expect(try transactionID(ReceiptFixtures.issuer.xcodeReceipt(issued)) == "0")
        // The outer levels of indefinite length, and an octet string within another.
        let purchase = BER.purchase([
            BER.attribute(1701, BER.integer(1)), BER.attribute(1702, BER.utf8("pass.premium")),
            BER.attribute(1703, BER.utf8("0")),
        ])
        let content = BER.content([BER.attribute(0, BER.utf8("Xcode")), purchase])
        let type: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let info = BER.indefinite(0x30, type + BER.indefinite(0xA0, BER.indefinite(0x24, BER.octets(content))))
        let signedData = BER.indefinite(0x30, BER.integer(1) + BER.set([]) + info + BER.set([]))
        #expect(try transactionID(BER.indefinite(0x30, type + BER.indefinite(0xA0, signedData))) == "0")
    }

    @Test func `an original transaction id will do, and purchases without any are passed over`() throws {
        let content = BER.content([
            BER.attribute(1703, BER.utf8("not a purchase")), BER.purchase([BER.attribute(1702, BER.utf8("a"))]),
            BER.purchase([BER.attribute(1705, BER.utf8("5")), BER.attribute(1703, BER.utf8("3"))]),
            BER.purchase([BER.attribute(1703, BER.utf8("4"))]),
        ])
        #expect(try transactionID(BER.container(BER.octets(content))) == "5")
        #expect(try transactionID(BER.container(BER.pieces(content))) == "5")
        #expect(try transactionID(BER.container(BER.octets(BER.set([])))) == nil)
        let inPieces = BER.set([
            BER.sequence(
                BER.integer(17), BER.integer(1),
                BER.pieces(BER.set([BER.sequence(BER.integer(1703), BER.integer(1), BER.pieces(BER.utf8("33993399")))]))
            )
        ])
        #expect(try transactionID(BER.container(BER.octets(inPieces))) == "33993399")
    }

    @Test func `a transaction receipt gives its transaction id`() throws {
        let issued = ReceiptFixtures.receipt()
        let bytes = try ReceiptFixtures.issuer.transactionReceipt(of: issued.purchases[1], in: issued)
        #expect(try transactionID(bytes) == "2000000100000001")
        #expect(try transactionID(Array("{\"purchase-info\" = \"e30=\";}".utf8)) == nil)
    }

    @Test func `what is no receipt is told`() throws {
        #expect(fault([]) == .empty)
        #expect(fault(Array("  \n".utf8)) == .empty)
        #expect(fault(Array("receipt".utf8)) == .unknownFormat)
        #expect(fault(Array(" 0".utf8)) == .unknownFormat)
        #expect(fault(Array("{".utf8)) == .truncated)
        #expect(fault(Array(try ReceiptFixtures.appReceipt().dropLast())) == .truncated)
    }
}
