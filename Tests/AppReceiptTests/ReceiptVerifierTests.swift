import Foundation
import OpenSSL
import Testing

@testable import AppReceipt
@testable import AppStoreSimulator

/// Which receipts are believed, and why not.
struct ReceiptVerifierTests {
    private typealias Fixtures = ReceiptFixtures

    private func refusal(_ bytes: [UInt8], acceptsSHA1: Bool = false) throws -> ReceiptRefusal? {
        try Fixtures.verifier(acceptsSHA1: acceptsSHA1).verify(bytes).refusal
    }

    private func fault(
        _ bytes: [UInt8], _ change: (inout ReceiptLimits) -> Void = { _ in }
    ) -> ReceiptDecodingError.Reason? {
        var limits = ReceiptLimits()
        change(&limits)
        do {
            _ = try Fixtures.verifier(limits).verify(bytes)
            return nil
        } catch {
            return (error as? ReceiptDecodingError)?.reason
        }
    }

    // MARK: Good ones

    @Test(arguments: ReceiptFixtures.forms)
    func `a good receipt is genuine, however it is signed and written`(form: ReceiptForm) throws {
        let issued = Fixtures.receipt(at: Fixtures.old)
        let judged = try Fixtures.verifier().verify(Fixtures.issuer.appReceipt(issued, form))
        #expect(judged.refusal == nil)
        #expect(judged.isGenuine)
        #expect(judged.receipt.bundleID == issued.bundleID)
        #expect(judged.receipt.environment == .sandbox)
        #expect(judged.receipt.creationDate == Fixtures.old)
        #expect(judged.receipt.purchases.map(\.transactionID) == issued.purchases.map(\.transactionID))
        #expect(judged.receipt.purchases.map(\.purchaseDate) == issued.purchases.map(\.purchaseDate))
        let known: Set<Int64> = [1, 8, 18]
        #expect(
            judged.receipt.otherAttributes.filter { !known.contains($0.type) }.map { [$0.type, $0.version] }
                == issued.otherAttributes.map { [$0.type, $0.version] })
    }

    @Test(arguments: [true, false])
    func `a signer may have a key on a curve`(signedAttributes: Bool) throws {
        let content = try Fixtures.receipt().encoded()
        let (bytes, root) = try Fixtures.signedOnCurve(content, signedAttributes: signedAttributes)
        #expect(try ReceiptVerifier(roots: [root]).verify(bytes).isGenuine)
        var altered = bytes
        let place = try #require(bytes.firstRange(of: Array("coins.100".utf8)))
        altered[place.lowerBound] ^= 1
        let refusal = try ReceiptVerifier(roots: [root]).verify(altered).refusal
        // ECDSA does not tell what was signed.
        #expect(refusal == (signedAttributes ? .alteredContent : .badSignature))
    }

    @Test func `ten thousand purchases are read, and a fresh installation has none`() throws {
        let judged = try Fixtures.verifier().verify(Fixtures.appReceipt(purchases: 10_000))
        #expect(judged.isGenuine)
        #expect(judged.receipt.purchases.count == 10_000)
        #expect(judged.receipt.purchases.last?.transactionID == "2000000100009999")
        #expect(try Fixtures.verifier().verify(Fixtures.appReceipt(purchases: 0)).receipt.purchases.isEmpty)
    }

    // MARK: Bad ones

    private static let refusals: [(ReceiptTampering, ReceiptRefusal)] = [
        (.alteredPayload, .alteredContent), (.wrongSignature, .badSignature),
        (.missingLeafExtension, .missingMarker(.leaf, oid: "1.2.840.113635.100.6.11.1")),
        (.missingIntermediateExtension, .missingMarker(.intermediate, oid: "1.2.840.113635.100.6.2.1")),
        (.expiredCertificate, .notValidAtCreation(.leaf)),
    ]

    @Test(arguments: refusals, ReceiptFixtures.forms)
    func `each spoiled receipt is refused for what is wrong with it`(
        spoiled: (ReceiptTampering, ReceiptRefusal), form: ReceiptForm
    ) throws {
        var form = form
        form.tampering = spoiled.0
        let judged = try Fixtures.verifier().verify(Fixtures.appReceipt(form, at: Fixtures.old))
        #expect(judged.refusal == spoiled.1)
        #expect(!judged.isGenuine)
        #expect(judged.receipt.bundleID == "com.example.coins", "what it says is told all the same")
        #expect(judged.refusal.map { !"\($0)".isEmpty } == true)
    }

    @Test func `another root than the pinned one is not believed`() throws {
        guard case .untrustedChain(let text) = try refusal(Fixtures.appReceipt(ReceiptForm(.foreignRoot))) else {
            Issue.record("a foreign root was not told")
            return
        }
        #expect(text.hasPrefix("root certificate"))
        let bytes = try Fixtures.appReceipt()
        #expect(try !ReceiptVerifier(roots: []).verify(bytes).isGenuine)
    }

    @Test func `the signer must have been valid when the receipt was made, not today`() throws {
        // Made two decades before anybody signed.
        let content = try Fixtures.receipt(at: Date(timeIntervalSince1970: 1_000_000_000)).encoded()
        let (bytes, root) = try Fixtures.signedOnCurve(content, signedAttributes: true)
        #expect(
            try ReceiptVerifier(roots: [root], acceptsSHA1: true).verify(bytes).refusal == .notValidAtCreation(.root))
    }

    @Test func `SHA-1 is accepted until Apple ceased to sign with it, and later by configuration`() throws {
        let lastMoment = ReceiptVerifier.lastOfSHA1
        #expect(try refusal(Fixtures.appReceipt(ReceiptForm(.sha1), at: lastMoment - 1)) == nil)
        #expect(try refusal(Fixtures.appReceipt(ReceiptForm(.sha1), at: lastMoment)) == .sha1TooNew)
        #expect(try refusal(Fixtures.appReceipt(ReceiptForm(.sha1), at: lastMoment), acceptsSHA1: true) == nil)
        // Certificates count like the signature itself.
        var form = ReceiptForm(.sha256)
        form.certificateDigest = .sha1
        #expect(try refusal(Fixtures.appReceipt(form, at: lastMoment - 1)) == nil)
        guard case .untrustedChain = try refusal(Fixtures.appReceipt(form, at: lastMoment)) else {
            Issue.record("a certificate of SHA-1 was accepted")
            return
        }
    }

    @Test func `what Xcode signed is read, and never believed`() throws {
        let bytes = try Fixtures.issuer.xcodeReceipt(Fixtures.receipt())
        let judged = try Fixtures.verifier().verify(bytes)
        #expect(judged.refusal == .xcodeEnvironment)
        #expect(judged.receipt.purchases.count == 2)
        // Not even if a good chain signed it.
        var receipt = Fixtures.receipt()
        receipt.environment = "Xcode"
        #expect(try refusal(Fixtures.issuer.appReceipt(receipt)) == .xcodeEnvironment)
    }

    @Test func `without a signer or its certificate there is nothing to believe`() throws {
        let unsigned = BER.container(BER.octets(BER.content()))
        #expect(try refusal(unsigned) == .noSigner("0 signers instead of one"))
        let other = try Fixtures.signedOnCurve(BER.content(), signedAttributes: true)
        let certificate = try CMSSignedData(ber: other.bytes).signer().certificate.der
        // The signer names its certificate by the serial number of 16 bytes, which is another now.
        let serialNumber = try #require(certificate.firstRange(of: [0x02, 0x10])).upperBound
        let start = try #require(other.bytes.firstRange(of: certificate.prefix(serialNumber + 16))).lowerBound
        var bytes = other.bytes
        bytes[start + serialNumber] ^= 1
        #expect(
            try ReceiptVerifier(roots: [other.root]).verify(bytes).refusal
                == .noSigner("the signer's certificate is not in the container"))
    }

    @Test func `an intermediate that is not there makes no chain`() throws {
        let (bytes, root) = try Fixtures.signedOnCurve(BER.content(), signedAttributes: true) {
            $0.otherCertificates = []
        }
        guard case .untrustedChain = try ReceiptVerifier(roots: [root]).verify(bytes).refusal else {
            Issue.record("a chain was found")
            return
        }
    }

    // MARK: No receipts

    @Test func `what is no container is told`() throws {
        let good = try Fixtures.appReceipt()
        #expect(fault([]) == .empty)
        #expect(fault([0x04, 0x00]) == .malformed(expected: "a PKCS #7 container"))
        #expect(fault(good + [0]) == .malformed(expected: "nothing after the container"))
        #expect(fault(try Fixtures.appReceipt(ReceiptForm(.truncated))) == .truncated)
        #expect(fault(BER.container(BER.octets(BER.sequence()))) == .malformed(expected: "a set of attributes"))
        var otherKind = good
        let place = try #require(good.firstRange(of: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]))
        otherKind[place.upperBound - 1] = 0x03
        guard case .container = fault(otherKind) else {
            Issue.record("an envelope passed for signed data")
            return
        }
    }

    @Test func `every prefix of a receipt is undecodable, and told so`() throws {
        let good = try Fixtures.appReceipt(purchases: 1)
        for count in stride(from: 0, to: good.count, by: 7) {
            #expect(fault(Array(good[..<count])) != nil, "\(count) bytes")
        }
    }

    @Test func `bytes, certificates, depth and purchases have limits`() throws {
        let good = try Fixtures.appReceipt()
        #expect(fault(good) { $0.bytes = good.count } == nil)
        #expect(fault(good) { $0.bytes = good.count - 1 } == .tooLarge(limit: good.count - 1))
        #expect(fault(good) { $0.certificateBytes = 1000 } == .tooManyCertificates(limit: 1000))
        #expect(fault(good) { $0.depth = 4 } == .tooDeep(limit: 4))
        #expect(fault(good) { $0.purchases = 1 } == .tooManyPurchases(limit: 1))
        #expect(fault(good) { $0.attributes = 10 } == .tooManyAttributes(limit: 10))
    }
}
