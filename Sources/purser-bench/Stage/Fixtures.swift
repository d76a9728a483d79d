import AppStoreAPI
import Foundation
import JOSE
import OpenSSL

/// Keys, certificates and signed answers, made anew for each run: one folder of files that Purser, the references, the
/// stand-in for Apple and the probes read.
///
/// The names are those that the Python peer expects, too.
struct Fixtures: Sendable {
    /// The bundle id of the first app, which the Python peer knows too.
    static let bundleID = bundleID(0)
    static let appAppleID: Int64 = 1234
    static let keyID = "ABCDEFGHIJ"
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"
    /// How many transactions a refund history has.
    static let refundCount = 20

    let folder: URL
    let chain: SigningChain
    /// Characters of one signed transaction.
    let signedCount: Int

    /// Makes everything.
    ///
    /// - Throws: `OpenSSLError`, and errors of the file system.
    init(making folder: URL) throws {
        self.folder = folder
        chain = try SigningChain()
        try FileManager.default.createDirectory(
            at: folder.appending(path: "upstream/transactions"), withIntermediateDirectories: true)
        let signed = try (0..<Self.refundCount).map { [chain] in try chain.sign(Self.transaction($0).serialized()) }
        signedCount = signed[0].utf8.count
        try write("root.der", chain.root.der)
        try write("transactions.txt", Array(signed.joined(separator: "\n").utf8))
        try write(
            "upstream/refund.json",
            RefundHistoryResponse {
                $0.hasMore = false
                $0.revision = "1698148900000_a"
                $0.signedTransactions = signed
            }.serialized())
        try write(
            "upstream/mass.json",
            MassExtendRenewalDateStatusResponse {
                $0.requestIdentifier = "758883e8-151b-47b7-abd0-60c4d804c2f5"
                $0.complete = true
                $0.completeDate = 1_698_148_900_000
                $0.succeededCount = 30
                $0.failedCount = 2
            }.serialized())
        try writeKeys()
    }

    /// Lets what stands for Apple answer for some transactions, each a purchase of its own; the last digit of an id names its
    /// app.
    ///
    /// - Throws: `OpenSSLError`, and errors of the file system.
    func write(transactions: Range<Int>) throws {
        var transaction = Self.transaction(0)
        for id in transactions {
            transaction.transactionId = "\(id)"
            transaction.originalTransactionId = "\(id)"
            transaction.webOrderLineItemId = "\(id)"
            transaction.bundleId = Self.bundleID(id % PurserConfiguration.measuredApps)
            let signed = try chain.sign(transaction.serialized())
            try write(
                "upstream/transactions/\(id).json",
                TransactionInfoResponse { $0.signedTransactionInfo = signed }.serialized())
        }
    }

    private func writeKeys() throws {
        let start = Date(timeIntervalSinceNow: -86_400)
        let end = start + 90 * 86_400
        let authorityKey = try IssuingKey(generating: .p256)
        let authority = try CertificateBuilder.authority(
            "Bench TLS", notBefore: start, notAfter: end, pathLength: 0
        ).selfSigned(by: authorityKey)
        let serverKey = try IssuingKey(generating: .p256)
        let server = try CertificateBuilder.server(
            [.dns("localhost"), .ipAddress("127.0.0.1")], notBefore: start, notAfter: end
        ).issued(to: serverKey.subjectPublicKeyInfo(), by: authority, key: authorityKey)
        try write("ca.pem", Array(authority.pem().utf8))
        try write("tls.pem", Array(server.pem().utf8))
        try write("tls.key", serverKey.pkcs8PEM().withUnsafeBytes { Array($0) }, permissions: 0o600)
        try write("api.p8", ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Array($0) }, permissions: 0o600)
    }

    private func write(_ name: String, _ bytes: [UInt8], permissions: Int = 0o644) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions]
        guard
            FileManager.default.createFile(atPath: path(name), contents: Data(bytes), attributes: attributes)
        else { throw BenchError("\(path(name)) cannot be written") }
    }

    /// The bundle id of one of the apps that the measurements ask about.
    static func bundleID(_ app: Int) -> String { app == 0 ? "com.example" : "com.example.b\(app)" }

    /// The path of one of the files.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// A transaction as Apple describes a refunded subscription.
    static func transaction(_ index: Int) -> TransactionPayload {
        let date = Int64(Date().timeIntervalSince1970 - 40 * 86_400) * 1000 + Int64(index) * 86_400_000
        return TransactionPayload {
            $0.transactionId = "\(2_000_000_400_000_000 + index)"
            $0.originalTransactionId = "2000000400000000"
            $0.webOrderLineItemId = "\(2_000_000_034_343_000 + index)"
            $0.bundleId = bundleID
            $0.productId = "com.example.product.premium.monthly"
            $0.subscriptionGroupIdentifier = "20965555"
            $0.purchaseDate = date
            $0.originalPurchaseDate = date
            $0.expiresDate = date + 2_592_000_000
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.signedDate = date + 1000
            $0.revocationReason = .issue
            $0.revocationDate = date + 5000
            $0.environment = .sandbox
            $0.transactionReason = .renewal
            $0.storefront = "USA"
            $0.storefrontId = "143441"
            $0.price = 10990
            $0.currency = "USD"
            $0.appTransactionId = "704346128012345678"
        }
    }
}

/// Signs as the App Store does: ES256, with a chain of leaf, intermediate and root in the header, on Apple's curves.
struct SigningChain: Sendable {
    let root: Certificate
    private let header: JOSEHeader
    private let leafKey: ECPrivateKey

    /// Makes a new chain, valid from a year ago for twenty years.
    ///
    /// - Throws: `OpenSSLError`
    init() throws {
        let start = Date(timeIntervalSinceNow: -365 * 86_400)
        let end = start + 20 * 365 * 86_400
        let rootKey = try IssuingKey(generating: .p384)
        root = try CertificateBuilder.authority("Bench Root", notBefore: start, notAfter: end).selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .p384)
        var builder = CertificateBuilder.authority(
            "Bench Intermediate", notBefore: start, notAfter: end, pathLength: 0)
        builder.markerExtensions = ["1.2.840.113635.100.6.2.1"]
        let intermediate = try builder.issued(
            to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        leafKey = try ECPrivateKey.generate()
        builder = CertificateBuilder.signer("Bench Leaf", notBefore: start, notAfter: end)
        builder.markerExtensions = ["1.2.840.113635.100.6.11.1"]
        let leaf = try builder.issued(
            to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        header = JOSEHeader(certificateChain: [leaf.der, intermediate.der, root.der])
    }

    /// Signs a payload as it is.
    ///
    /// - Returns: a compact JWS.
    /// - Throws: `OpenSSLError`
    func sign(_ payload: [UInt8]) throws -> String {
        try CompactJWS.sign(payload, header: header, with: leafKey)
    }
}
