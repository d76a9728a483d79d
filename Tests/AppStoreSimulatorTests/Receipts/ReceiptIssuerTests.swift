import Foundation
import OpenSSL
import Testing

@testable import AppStoreSimulator

/// Receipts as they are signed and written.
struct ReceiptIssuerTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    /// One for all, since its keys take a moment to make.
    private static let issuer = Result { try ReceiptIssuer(generatingAt: now) }

    private var issuer: ReceiptIssuer { get throws { try Self.issuer.get() } }

    private func receipt(_ count: Int, at date: Date = now) -> IssuedReceipt {
        var receipt = IssuedReceipt(bundleID: "com.example.coins", creationDate: date)
        receipt.purchases = (0..<count).map {
            IssuedPurchase(
                productID: "coins.100", transactionID: String(2_000_000_100_000_000 + $0), purchaseDate: date)
        }
        return receipt
    }

    private static let forms: [ReceiptForm] = DigestAlgorithm.allCases.flatMap { digest in
        [CMSSigner.Encoding.der, .indefiniteLengths].flatMap { encoding in
            [true, false].map { hasSignedAttributes in
                var form = ReceiptForm(digest)
                form.encoding = encoding
                form.hasSignedAttributes = hasSignedAttributes
                return form
            }
        }
    }

    @Test(arguments: forms)
    func `a good receipt can be verified, however it is signed and written`(_ form: ReceiptForm) throws {
        let receipt = receipt(100)
        let bytes = try issuer.appReceipt(receipt, form)
        let data = try CMSSignedData(ber: bytes)
        #expect(try data.content == receipt.encoded())
        #expect(data.certificates.count == 3)
        #expect(try data.signer().digest == form.digest)
        #expect(try data.signer().hasSignedAttributes == form.hasSignedAttributes)
        let attributes = try ReceiptReader.read(bytes, root: issuer.root, at: Self.now).get()
        #expect(attributes.filter { $0.type == 17 }.count == 100)
        #expect(bytes[1] == (form.encoding == .der ? 0x82 : 0x80))
        #expect(try issuer.appReceipt(receipt, form) == bytes, "what is issued twice comes out the same")
    }

    @Test func `old receipts have signers that have expired since`() throws {
        let created = Date(timeIntervalSince1970: 1_480_000_000)
        let bytes = try issuer.appReceipt(receipt(1, at: created), ReceiptForm(.sha1))
        _ = try ReceiptReader.read(bytes, root: issuer.root, at: created).get()
        let today = try ReceiptReader.read(bytes, root: issuer.root, at: Self.now)
        #expect(throws: ReceiptReader.FindingError.self) { try today.get() }
    }

    private static let findings: [(ReceiptTampering, ReceiptReader.Finding)] = [
        (.alteredPayload, .signature), (.wrongSignature, .signature), (.foreignRoot, .chain(.root, .untrustedRoot)),
        (.missingLeafExtension, .chain(.leaf, .missingExtension(SigningAuthority.leafExtension))),
        (
            .missingIntermediateExtension,
            .chain(.intermediate, .missingExtension(SigningAuthority.intermediateExtension))
        ),
        (.expiredCertificate, .chain(.leaf, .expired)), (.truncated, .unreadable),
    ]

    @Test(arguments: findings)
    func `each spoiled receipt fails by what is wrong with it`(
        _ tampering: ReceiptTampering, _ expected: ReceiptReader.Finding
    ) throws {
        for var form in Self.forms {
            form.tampering = tampering
            for count in [0, 2] {
                let bytes = try issuer.appReceipt(receipt(count), form)
                let result = try ReceiptReader.read(bytes, root: issuer.root, at: Self.now)
                guard case .failure(let error) = result else {
                    Issue.record("\(tampering) is not noticed in \(form)")
                    continue
                }
                #expect(error.finding == expected)
            }
        }
    }

    @Test func `there is a finding for each way to spoil one`() {
        #expect(Set(Self.findings.map(\.0)) == Set(ReceiptTampering.allCases))
    }

    @Test func `Xcode's receipts have indefinite lengths, their own environment and nobody who vouches for them`()
        throws
    {
        let bytes = try issuer.xcodeReceipt(receipt(1))
        let data = try CMSSignedData(ber: bytes)
        #expect(bytes[1] == 0x80 && data.certificates.count == 1)
        let attributes = try ReceiptReader.attributes(data.content ?? [])
        #expect(attributes.first { $0.type == 0 }?.text == "Xcode")
        #expect(attributes.first { $0.type == 21 }?.text == "4001-01-01T00:00:00Z")
        let result = try ReceiptReader.read(bytes, root: issuer.root, at: Self.now)
        #expect(throws: ReceiptReader.FindingError.self) { try result.get() }
    }

    // MARK: Content

    @Test func `every attribute is there as the guide has it`() throws {
        var receipt = receipt(1, at: Date(timeIntervalSince1970: 1_780_000_000.9))
        receipt.appAppleID = 1_234_567_890
        receipt.expirationDate = receipt.creationDate + 60
        receipt.purchases[0].webOrderLineItemID = 128
        receipt.purchases[0].isInIntroductoryOfferPeriod = true
        receipt.purchases[0].cancellationDate = receipt.creationDate
        let attributes = try ReceiptReader.attributes(receipt.encoded())
        func text(_ type: Int) -> String? { attributes.first { $0.type == type }?.text }
        #expect(attributes.allSatisfy { $0.version == 1 })
        #expect(text(0) == "Sandbox" && text(2) == "com.example.coins" && text(3) == "1.0" && text(19) == "1.0")
        #expect(text(12) == "2026-05-28T20:26:40Z" && text(21) == "2026-05-28T20:27:40Z")
        let opaqueValue = try #require(attributes.first { $0.type == 4 }).value
        let bundleID = try #require(attributes.first { $0.type == 2 }).value
        #expect(
            try DigestAlgorithm.sha1.digest([UInt8](repeating: 0, count: 16) + opaqueValue + bundleID)
                == attributes.first { $0.type == 5 }?.value)
        #expect(attributes.contains { $0.type == 6 } && attributes.contains { $0.type == 25 })

        let purchase = try ReceiptReader.attributes(#require(attributes.first { $0.type == 17 }).value)
        let values = Dictionary(uniqueKeysWithValues: purchase.map { ($0.type, $0) })
        #expect(values[1702]?.text == "coins.100" && values[1703]?.text == "2000000100000000")
        #expect(values[1705]?.text == "2000000100000000" && values[1704]?.text == "2026-05-28T20:26:40Z")
        #expect(values[1706]?.text == "2026-05-28T20:26:40Z" && values[1708]?.text == "")
        #expect(values[1712]?.text == "2026-05-28T20:26:40Z")
        #expect(values[1701]?.value == [2, 1, 1] && values[1711]?.value == [2, 2, 0, 128])
        #expect(values[1719]?.value == [2, 1, 1])
    }

    @Test func `a receipt grows by the same for each purchase`() throws {
        let sizes = try [1000, 10_000, 19_000].map { try issuer.appReceipt(receipt($0)).count }
        #expect(sizes[1] - sizes[0] == sizes[2] - sizes[1])
        let attributes = try ReceiptReader.attributes(receipt(10_000).encoded())
        #expect(attributes.filter { $0.type == 17 }.count == 10_000)
    }

    @Test func `a transaction's receipt is a property list in a property list`() throws {
        var receipt = receipt(1)
        receipt.environment = "Sandbox"
        receipt.purchases[0].expirationDate = Self.now
        let bytes = try issuer.transactionReceipt(of: receipt.purchases[0], in: receipt)
        let text = String(decoding: bytes, as: UTF8.self)
        // As Apple's libraries look for it.
        let match = try #require(text.firstMatch(of: /"purchase-info"\s+=\s+"([a-zA-Z0-9+\/=]+)";/))
        let decoded = try #require(Data(base64Encoded: String(match.1)))
        let information = String(decoding: decoded, as: UTF8.self)
        #expect(
            information.firstMatch(of: /"transaction-id"\s+=\s+"([a-zA-Z0-9+\/=]+)";/)?.1 == "2000000100000000")
        #expect(information.contains("\"bid\" = \"com.example.coins\";"))
        #expect(information.contains("\"purchase-date\" = \"2026-05-28 20:26:40 Etc/GMT\";"))
        #expect(information.contains("\"expires-date\" = \"1780000000000\";"))
        #expect(text.hasPrefix("{") && text.hasSuffix("}") && text.contains("\"environment\" = \"Sandbox\";"))
        receipt.environment = "Production"
        let production = try issuer.transactionReceipt(of: receipt.purchases[0], in: receipt)
        #expect(!String(decoding: production, as: UTF8.self).contains("environment"))
    }
}
