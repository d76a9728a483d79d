import AppStoreSimulator
import Domain
import Foundation
import OpenSSL
import Testing

@testable import AppStoreClient

/// Receipts as the rest of the service gets to see them.
struct ReceiptAuthenticatorTests {
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)
    /// One for all, since its keys take a moment to make.
    private static let sharedIssuer = Result { try ReceiptIssuer(generatingAt: now) }
    private static let device = UUID(uuidString: "9D57BD5C-8F53-4F9B-8E2F-1D4B7A1C6E01")

    private var issuer: ReceiptIssuer { get throws { try Self.sharedIssuer.get() } }

    private var issued: IssuedReceipt {
        var receipt = IssuedReceipt(bundleID: "com.example.coins", creationDate: Self.now)
        receipt.environment = "ProductionSandbox"
        var purchase = IssuedPurchase(
            productID: "coins.100", transactionID: "2000000100000001", purchaseDate: Self.now)
        purchase.originalTransactionID = "2000000100000000"
        purchase.expirationDate = Self.now + 86_400
        purchase.webOrderLineItemID = 1 << 40
        purchase.cancellationDate = Self.now + 60
        purchase.isInIntroductoryOfferPeriod = true
        receipt.purchases = [purchase]
        return receipt
    }

    private var purchase: ReceiptContent.Purchase {
        .init(
            transactionID: "2000000100000001", originalTransactionID: "2000000100000000", productID: "coins.100",
            quantity: 1, purchaseDate: Self.now, originalPurchaseDate: Self.now, expiresDate: Self.now + 86_400,
            webOrderLineItemID: "1099511627776", cancellationDate: Self.now + 60, isInIntroductoryOfferPeriod: true)
    }

    private let requester = Requester.known(.caller("shop"))

    private func reader(
        acceptsSHA1: Bool = false, _ bound: ChainCheckBound = ChainCheckBound(underWay: 1, waiting: 10)
    ) throws -> ReceiptAuthenticator {
        ReceiptAuthenticator(roots: [try issuer.root], acceptsSHA1: acceptsSHA1, bound: bound)
    }

    private func fault(
        _ bytes: [UInt8], _ reader: ReceiptAuthenticator? = nil
    ) async throws -> ReceiptFault? {
        let reader = try reader ?? self.reader()
        do {
            _ = try await reader.content(of: bytes, device: nil, for: requester)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a genuine app receipt says everything that is in it`() async throws {
        let content = try await reader().content(of: issuer.appReceipt(issued), device: nil, for: requester)
        #expect(
            content
                == ReceiptContent(
                    style: .unified, isVerified: true, bundleID: "com.example.coins",
                    environmentName: "ProductionSandbox", createdAt: Self.now, applicationVersion: "1.0",
                    originalApplicationVersion: "1.0", deviceCheck: .unchecked, purchases: [purchase]))
        #expect(content.environment == .sandbox)
    }

    @Test func `a transaction receipt is read, and not verified`() async throws {
        let bytes = try issuer.transactionReceipt(of: issued.purchases[0], in: issued)
        let content = try await reader().content(of: bytes, device: Self.device, for: requester)
        #expect(
            content
                == ReceiptContent(
                    style: .transaction, isVerified: false, bundleID: "com.example.coins",
                    environmentName: "Sandbox", createdAt: nil, applicationVersion: "1.0",
                    purchases: [purchase]))
    }

    @Test func `the device is compared where one is named`() async throws {
        var receipt = issued
        let device = try #require(Self.device)
        receipt.deviceIdentifier = withUnsafeBytes(of: device.uuid) { Array($0) }
        let bytes = try issuer.appReceipt(receipt)
        #expect(try await reader().content(of: bytes, device: device, for: requester).deviceCheck == .matches)
        #expect(try await reader().content(of: bytes, device: UUID(), for: requester).deviceCheck == .mismatch)
        #expect(try await reader().content(of: bytes, device: nil, for: requester).deviceCheck == .unchecked)
    }

    private static let faults: [(ReceiptTampering, ReceiptSignatureFault)] = [
        (.alteredPayload, .contentAltered), (.wrongSignature, .signatureInvalid), (.foreignRoot, .chainNotTrusted),
        (.missingLeafExtension, .markerMissing), (.missingIntermediateExtension, .markerMissing),
        (.expiredCertificate, .chainNotTrusted),
    ]

    @Test(arguments: faults)
    func `each forgery is told by its kind`(_ tampering: ReceiptTampering, _ expected: ReceiptSignatureFault)
        async throws
    {
        #expect(try await fault(issuer.appReceipt(issued, ReceiptForm(tampering))) == .signature(expected))
    }

    @Test func `SHA-1 of today is accepted by configuration alone`() async throws {
        let bytes = try issuer.appReceipt(issued, ReceiptForm(.sha1))
        #expect(try await fault(bytes) == .signature(.algorithmNotAccepted))
        #expect(try await fault(bytes, reader(acceptsSHA1: true)) == nil)
    }

    @Test func `Xcode's receipts and what is none are told apart from forgeries`() async throws {
        #expect(try await fault(issuer.xcodeReceipt(issued)) == .xcode)
        #expect(
            try await fault(issuer.appReceipt(issued, ReceiptForm(.truncated)))
                == .undecodable("it ends too early, byte 0"))
        #expect(
            try await fault(Array("hello".utf8))
                == .undecodable("it is neither a PKCS #7 container nor a property list"))
    }

    @Test func `a transaction id is taken out of either style without looking at signatures`() async throws {
        let reader = try reader()
        let forged = try issuer.appReceipt(issued, ReceiptForm(.wrongSignature))
        #expect(try await reader.transactionID(in: forged, for: requester) == "2000000100000001")
        let legacy = try issuer.transactionReceipt(of: issued.purchases[0], in: issued)
        #expect(try await reader.transactionID(in: legacy, for: requester) == "2000000100000001")
        await #expect(throws: ReceiptFault.undecodable("it is empty")) {
            try await reader.transactionID(in: [], for: requester)
        }
    }

    @Test func `whoever finds neither room nor a place to wait is shed, and room is given back`() async throws {
        let full = try reader(ChainCheckBound(underWay: 0, waiting: 0))
        #expect(try await fault([], full) == .busy)
        let narrow = try reader(ChainCheckBound(underWay: 1, waiting: 100))
        let bytes = try issuer.appReceipt(issued)
        try await withThrowingTaskGroup(of: ReceiptContent.self) { tasks in
            for _ in 0..<20 { tasks.addTask { try await narrow.content(of: bytes, device: nil, for: requester) } }
            var count = 0
            for try await content in tasks {
                #expect(content.isVerified)
                count += 1
            }
            #expect(count == 20)
        }
    }
}
