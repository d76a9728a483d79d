import Foundation
import OpenSSL
import Testing

@Suite struct CertificateChainTests {
    private typealias Fixtures = CertificateFixtures

    /// What a refusal says first: which certificate, and why.
    private func refusal(
        _ verify: () throws(CertificateChainError) -> VerifiedChain
    ) -> (certificate: CertificateChainError.Role, reason: CertificateChainError.Reason)? {
        do throws(CertificateChainError) {
            _ = try verify()
            return nil
        } catch {
            #expect(!error.text.isEmpty)
            return (error.certificate, error.reason)
        }
    }

    @Test(arguments: [IssuingKey.Kind.p256, .p384])
    func aGoodChainGivesTheLeafsKeyAndTheCommonValidity(_ curve: IssuingKey.Kind) throws {
        let chain = try Fixtures(keys: curve)
        let verified = try chain.verify()
        #expect(verified.leafPublicKey == chain.leafKey.publicKey)
        #expect(verified.validity == Fixtures.days(-10)..<Fixtures.days(10))
        let message = Array("message".utf8)
        #expect(try verified.leafPublicKey.isValidSignature(chain.leafKey.signature(for: message), for: message))
    }

    @Test func theCommonValidityIsTheNarrowest() throws {
        let chain = try Fixtures(
            root: { $0.notAfter = Fixtures.days(3) }, intermediate: { $0.notBefore = Fixtures.days(-2) })
        #expect(try chain.verify().validity == Fixtures.days(-2)..<Fixtures.days(3))
    }

    @Test func theRightRootAmongSeveralIsFound() throws {
        let chain = try Fixtures()
        let others = [try Fixtures().root, try Fixtures().root]
        #expect(try chain.verify(roots: others + [chain.root]).leafPublicKey == chain.leafKey.publicKey)
    }

    @Test func aChainInDERIsVerifiedAlike() throws {
        let chain = try Fixtures()
        let verified = try CertificateChain.verify(
            leaf: chain.leaf.der, intermediate: chain.intermediate.der, roots: [chain.root], at: Fixtures.now)
        #expect(verified.leafPublicKey == chain.leafKey.publicKey)
    }

    @Test func damagedDERIsNamedByItsPlace() throws {
        let chain = try Fixtures()
        let leaf = refusal { () throws(CertificateChainError) in
            try CertificateChain.verify(
                leaf: [1, 2, 3], intermediate: chain.intermediate.der, roots: [chain.root], at: Fixtures.now)
        }
        #expect(leaf?.certificate == .leaf)
        #expect(leaf?.reason == .malformed)
        let intermediate = refusal { () throws(CertificateChainError) in
            try CertificateChain.verify(
                leaf: chain.leaf.der, intermediate: chain.intermediate.der + [0], roots: [chain.root], at: Fixtures.now)
        }
        #expect(intermediate?.certificate == .intermediate)
        #expect(intermediate?.reason == .malformed)
    }

    @Test func eachCertificateOutsideItsValidityIsNamed() throws {
        let chain = try Fixtures()
        let cases: [(Double, CertificateChainError.Role, CertificateChainError.Reason)] = [
            (11, .leaf, .expired), (-11, .leaf, .notYetValid),
        ]
        for (day, role, reason) in cases {
            let refusal = refusal { () throws(CertificateChainError) in try chain.verify(at: Fixtures.days(day)) }
            #expect(refusal?.certificate == role)
            #expect(refusal?.reason == reason)
        }
        let oldIntermediate = try Fixtures(intermediate: { $0.notAfter = Fixtures.days(-1) })
        let first = refusal { () throws(CertificateChainError) in try oldIntermediate.verify() }
        #expect(first?.certificate == .intermediate)
        #expect(first?.reason == .expired)
        let futureRoot = try Fixtures(root: { $0.notBefore = Fixtures.days(1) })
        let second = refusal { () throws(CertificateChainError) in try futureRoot.verify() }
        #expect(second?.certificate == .root)
        #expect(second?.reason == .notYetValid)
    }

    @Test func theDateOfCheckDecidesAndNotTheClock() throws {
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        let change: (inout CertificateBuilder) -> Void = { builder in
            builder.notBefore = past
            builder.notAfter = past.addingTimeInterval(60)
        }
        let chain = try Fixtures(root: change, intermediate: change, leaf: change)
        #expect(try chain.verify(at: past.addingTimeInterval(30)).leafPublicKey == chain.leafKey.publicKey)
    }

    @Test func rootsThatAreNotTheRightOneAreUntrusted() throws {
        let chain = try Fixtures()
        let lookalike = try Fixtures().root
        for roots in [[], [lookalike]] {
            let refusal = refusal { () throws(CertificateChainError) in try chain.verify(roots: roots) }
            #expect(refusal?.certificate == .intermediate)
            #expect(refusal?.reason == .untrustedRoot)
        }
    }

    @Test func anIntermediateIsNotTrustedAsARoot() throws {
        let chain = try Fixtures()
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify(roots: [chain.intermediate]) }
        #expect(refusal?.reason == .untrustedRoot)
    }

    @Test func missingMarkersAreNamed() throws {
        let leaf = try Fixtures(leaf: { $0.markerExtensions = ["1.2.3.4.5"] })
        let first = refusal { () throws(CertificateChainError) in try leaf.verify() }
        #expect(first?.certificate == .leaf)
        #expect(first?.reason == .missingExtension(Fixtures.leafMarker))
        let intermediate = try Fixtures(intermediate: { $0.markerExtensions = [] })
        let second = refusal { () throws(CertificateChainError) in try intermediate.verify() }
        #expect(second?.certificate == .intermediate)
        #expect(second?.reason == .missingExtension(Fixtures.intermediateMarker))
    }

    @Test func leafAndIntermediateInTheWrongOrderAreRefused() throws {
        let chain = try Fixtures()
        let refusal = refusal { () throws(CertificateChainError) in
            try chain.verify(leaf: chain.intermediate, intermediate: chain.leaf)
        }
        #expect(refusal?.reason == .chainLength)
    }

    @Test func aLeafOfTheRootItselfIsTooShortAChain() throws {
        let chain = try Fixtures()
        let leaf = try CertificateBuilder.signer("Leaf", notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
            .issued(to: chain.leafKey.publicKey.derRepresentation, by: chain.root, key: chain.rootKey)
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify(leaf: leaf) }
        #expect(refusal?.reason == .chainLength)
    }

    @Test func anIntermediateThatIsNoAuthorityIsRefused() throws {
        let chain = try Fixtures(intermediate: { $0.basicConstraints = .endEntity })
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify() }
        #expect(refusal?.certificate == .intermediate)
        #expect(refusal?.reason == .notCertificateAuthority)
    }

    @Test func anAuthorityMayNotIssueBeyondItsPathLength() throws {
        let chain = try Fixtures(root: { $0.basicConstraints = .certificateAuthority(pathLength: 0) })
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify() }
        #expect(refusal?.reason == .notCertificateAuthority)
    }

    @Test func anIntermediateWithoutTheUsageForItIsRefused() throws {
        let chain = try Fixtures(intermediate: { $0.keyUsage = [.digitalSignature] })
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify() }
        #expect(refusal != nil)
    }

    @Test func aLeafOfAnotherIntermediateIsRefused() throws {
        let chain = try Fixtures()
        let other = try Fixtures()
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify(leaf: other.leaf) }
        #expect(refusal?.certificate == .leaf)
        #expect(refusal?.reason == .issuerMismatch)
    }

    @Test func aDamagedSignatureIsNamed() throws {
        let chain = try Fixtures()
        for (role, certificate) in [(CertificateChainError.Role.leaf, chain.leaf), (.intermediate, chain.intermediate)]
        {
            var der = certificate.der
            der[der.count - 1] ^= 1
            let bent = try Certificate(der: der)
            let refusal = refusal { () throws(CertificateChainError) in
                role == .leaf ? try chain.verify(leaf: bent) : try chain.verify(intermediate: bent)
            }
            #expect(refusal?.certificate == role)
            #expect(refusal?.reason == .badSignature)
        }
    }

    @Test func aLeafWhoseKeyIsNotOnP256IsRefused() throws {
        let chain = try Fixtures()
        let key = try IssuingKey(generating: .p384)
        var builder = CertificateBuilder.signer("Leaf", notBefore: Fixtures.days(-1), notAfter: Fixtures.days(1))
        builder.markerExtensions = [Fixtures.leafMarker]
        let leaf = try builder.issued(
            to: key.subjectPublicKeyInfo(), by: chain.intermediate, key: chain.intermediateKey)
        let refusal = refusal { () throws(CertificateChainError) in try chain.verify(leaf: leaf) }
        #expect(refusal?.certificate == .leaf)
        #expect(refusal?.reason == .unsupportedKey(.otherCurve("P-384")))
    }

    @Test func aDateThatNoCertificateCanHoldIsAnErrorAndNotACrash() throws {
        let chain = try Fixtures()
        for seconds in [Double.nan, .infinity, -.infinity, 1e300] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(refusal { () throws(CertificateChainError) in try chain.verify(at: date) } != nil)
        }
    }
}
