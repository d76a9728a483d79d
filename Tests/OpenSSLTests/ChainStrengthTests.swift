import Foundation
import OpenSSL
import Testing

/// Chains whose leaf has a key of any kind, judged as strictly as the purpose allows.
struct ChainStrengthTests {
    private typealias Fixtures = CertificateFixtures

    private func refusal(
        _ verify: () throws(CertificateChainError) -> VerifiedPath
    ) -> CertificateChainError? {
        do throws(CertificateChainError) {
            _ = try verify()
            return nil
        } catch {
            return error
        }
    }

    private func path(
        _ chain: Fixtures, _ strength: CertificateChain.Strength, among others: [Certificate] = []
    ) throws(CertificateChainError) -> VerifiedPath {
        try CertificateChain.verifyPath(
            leaf: chain.leaf, intermediates: others + [chain.intermediate], roots: [chain.root], at: Fixtures.now,
            strength: strength, requiredLeafExtension: Fixtures.leafMarker,
            requiredIntermediateExtension: Fixtures.intermediateMarker)
    }

    @Test func `the intermediate is found among others, and the path says which it is`() throws {
        let chain = try Fixtures()
        let other = try Fixtures()
        let path = try path(chain, .current, among: [other.intermediate, other.root, chain.leaf])
        #expect(path.leaf == chain.leaf)
        #expect(path.intermediate == chain.intermediate)
        #expect(path.root == chain.root)
        #expect(path.validity == Fixtures.days(-10)..<Fixtures.days(10))
    }

    @Test func `certificates of SHA-1 are accepted only where that is asked for`() throws {
        let leaf = try Fixtures(leaf: { $0.signatureDigest = .sha1 })
        let intermediate = try Fixtures(intermediate: { $0.signatureDigest = .sha1 })
        for chain in [leaf, intermediate] {
            #expect(refusal { () throws(CertificateChainError) in try path(chain, .current) }?.reason == .rejected)
            #expect(refusal { () throws(CertificateChainError) in try path(chain, .acceptingSHA1) } == nil)
        }
        // What a root says of itself is not looked at.
        let root = try Fixtures(root: { $0.signatureDigest = .sha1 })
        #expect(refusal { () throws(CertificateChainError) in try path(root, .current) } == nil)
        // Signed data of StoreKit 2 takes none.
        #expect(throws: CertificateChainError.self) { try leaf.verify() }
    }

    @Test func `markers are required of every strength`() throws {
        let chain = try Fixtures(leaf: { $0.markerExtensions = [] })
        for strength in [CertificateChain.Strength.current, .acceptingSHA1] {
            let error = refusal { () throws(CertificateChainError) in try path(chain, strength) }
            #expect(error?.reason == .missingExtension(Fixtures.leafMarker))
        }
    }

    @Test(arguments: [CertificateChain.Strength.current, .acceptingSHA1])
    func `a short key is never accepted`(strength: CertificateChain.Strength) throws {
        let certificates = try Certificate.certificates(inFile: Array(Self.shortKey.utf8))
        let error = refusal { () throws(CertificateChainError) in
            try CertificateChain.verifyPath(
                leaf: certificates[2], intermediates: [certificates[1]], roots: [certificates[0]],
                // 2027-01-15
                at: Date(timeIntervalSince1970: 1_800_000_000), strength: strength)
        }
        #expect(error?.certificate == .leaf)
        #expect(error?.reason == .rejected)
    }

    /// A root, an intermediate, and a leaf with an RSA key of 1024 bits.
    private static let shortKey = """
        -----BEGIN CERTIFICATE-----
        MIIBbTCCARSgAwIBAgIUOm6sHu5sCyrCAK9PBv1DdaHGSxQwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJRnV6eiBSb290MCAXDTI2MTEyMjE1MDkyNFoYDzIwODEwODI1
        MTUwOTI0WjAUMRIwEAYDVQQDDAlGdXp6IFJvb3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAR/vDUG30/IJCQC9C6H8P/NRPzsx5xCmLorhHYrdEoH6UrlnwKf9DLg
        t2bjSh1d1JiB4HDjJFtJcRxuaHDM2Dszo0IwQDAPBgNVHRMBAf8EBTADAQH/MA4G
        A1UdDwEB/wQEAwICBDAdBgNVHQ4EFgQUohLkbLAk62C1m8rLjdHfiaAZh8MwCgYI
        KoZIzj0EAwIDRwAwRAIgHOhWY5aGVsMu1rXErMTyXtVqZRGywqA/5bvOedQcFs0C
        IFA1Oa6qBef2K95ICqcAxCzX7ZqUWciH81+u2NbNYjsg
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBnzCCAUagAwIBAgIUaleql9UyVFJUHZS+FawYP2ZO7lcwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJRnV6eiBSb290MCAXDTI2MTEyMjE1MDkyNFoYDzIwODEwODI1
        MTUwOTI0WjATMREwDwYDVQQDDAhGdXp6IGludDBZMBMGByqGSM49AgEGCCqGSM49
        AwEHA0IABPDaLC3lu5AfHl3M8IG3SyThf3sg++ndAQ3Vbp30Q+LkdtU+c8cE6aSw
        2kroXQMvFaxhoUPBa9DMvN451K8raP6jdTBzMA8GA1UdEwEB/wQFMAMBAf8wDgYD
        VR0PAQH/BAQDAgIEMB0GA1UdDgQWBBRa9QdyxsgmBD35qeRwjMmdUYvilzAfBgNV
        HSMEGDAWgBSiEuRssCTrYLWbysuN0d+JoBmHwzAQBgoqhkiG92NkBgIBBAIFADAK
        BggqhkjOPQQDAgNHADBEAiBIn7UFxDRiurCdnYU5mMVRCYIo19mfVhnHlwSYZRx5
        lQIgFrVp8Gj/FDfmSmZxU68/IYIWgbJBMQYvuJx9B1+ulBE=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIB4DCCAYWgAwIBAgIUAUUMAXOCBtph6tqoTi0cf6iy7owwCgYIKoZIzj0EAwIw
        EzERMA8GA1UEAwwIRnV6eiBpbnQwIBcNMjYxMTIyMTUyNjM2WhgPMjA4MTA4MjUx
        NTI2MzZaMA8xDTALBgNVBAMMBFdlYWswgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJ
        AoGBAMp5o+C5r37BIpBoBxWnIpkyn400uEOBiK4+8qPWKdXAGCnhaLiifDq0JhBx
        9l6f9CoLBc8bYflzUphclNURkabxd4AK4PtlKFKFkBOtwvZIh7l3EusyWwmlbxng
        X6fdQ+sEuoQICxpEgHyfXhr43EGYMX+9Itv2DUG14+tNP2DzAgMBAAGjcjBwMAwG
        A1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMB0GA1UdDgQWBBSe0D2RGZuCiGpf
        oaJVaJmjjpy2wjAfBgNVHSMEGDAWgBRa9QdyxsgmBD35qeRwjMmdUYvilzAQBgoq
        hkiG92NkBgsBBAIFADAKBggqhkjOPQQDAgNJADBGAiEA24LFkY2FPK2D3gMjyxoR
        5EfsZbVxhRcSqts+RLYCqWkCIQDVzDGORbN7uhD1pizNbCZnV0eQcTf27nZs9myx
        2sgloA==
        -----END CERTIFICATE-----
        """
}
