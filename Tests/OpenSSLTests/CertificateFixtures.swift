import Foundation
import OpenSSL

/// A root, an intermediate and a leaf as a signer of data would have them, each open to change before it is issued.
struct CertificateFixtures {
    static let leafMarker = "1.2.3.4.1"
    static let intermediateMarker = "1.2.3.4.2"
    /// The moment around which everything here is valid.
    static let now = Date(timeIntervalSince1970: 1_750_000_000)

    static func days(_ count: Double) -> Date { now.addingTimeInterval(count * 86_400) }

    let rootKey: IssuingKey
    let intermediateKey: IssuingKey
    let leafKey: ECPrivateKey
    let root: Certificate
    let intermediate: Certificate
    let leaf: Certificate

    init(
        keys: IssuingKey.Kind = .p384,
        root changeRoot: (inout CertificateBuilder) -> Void = { _ in },
        intermediate changeIntermediate: (inout CertificateBuilder) -> Void = { _ in },
        leaf changeLeaf: (inout CertificateBuilder) -> Void = { _ in }
    ) throws {
        rootKey = try IssuingKey(generating: keys)
        intermediateKey = try IssuingKey(generating: keys)
        leafKey = try ECPrivateKey.generate()

        var rootBuilder = CertificateBuilder.authority("Root", notBefore: Self.days(-1000), notAfter: Self.days(1000))
        changeRoot(&rootBuilder)
        root = try rootBuilder.selfSigned(by: rootKey)

        var builder = CertificateBuilder.authority(
            "Intermediate", notBefore: Self.days(-100), notAfter: Self.days(100), pathLength: 0)
        builder.markerExtensions = [Self.intermediateMarker]
        changeIntermediate(&builder)
        intermediate = try builder.issued(to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)

        builder = CertificateBuilder.signer("Leaf", notBefore: Self.days(-10), notAfter: Self.days(10))
        builder.markerExtensions = [Self.leafMarker]
        changeLeaf(&builder)
        leaf = try builder.issued(to: leafKey.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
    }

    /// Verifies this chain, or one in which some certificates are replaced.
    func verify(
        leaf: Certificate? = nil, intermediate: Certificate? = nil, roots: [Certificate]? = nil,
        at date: Date = Self.now
    ) throws(CertificateChainError) -> VerifiedChain {
        try CertificateChain.verify(
            leaf: leaf ?? self.leaf, intermediate: intermediate ?? self.intermediate, roots: roots ?? [root], at: date,
            requiredLeafExtension: Self.leafMarker, requiredIntermediateExtension: Self.intermediateMarker)
    }
}
