import Foundation
import Testing

@testable import OpenSSL

/// Where the vectors are.
private let wycheproofFolder = ProcessInfo.processInfo.environment["WYCHEPROOF"]

/// Project Wycheproof's own vectors for ECDSA on P-256, against each of our ways of verification;
/// `make check-wycheproof` fetches them.
///
/// `SignatureEdgeTests` holds what they look for in every run of the tests.
@Suite(.enabled(if: wycheproofFolder != nil, "the vectors are fetched by `make check-wycheproof`"))
struct WycheproofTests {
    /// A file of vectors (https://github.com/C2SP/wycheproof, `ecdsa_verify_schema_v1.json` and
    /// `ecdsa_p1363_verify_schema_v1.json`).
    private struct Vectors: Decodable {
        struct Group: Decodable {
            struct Key: Decodable { let uncompressed: String }

            struct Vector: Decodable {
                let tcId: Int
                let comment: String
                let msg: String
                let sig: String
                let result: String
            }

            let publicKey: Key
            let tests: [Vector]
        }

        let numberOfTests: Int
        let testGroups: [Group]
    }

    @Test(arguments: [("ecdsa_secp256r1_sha256_p1363_test.json", false), ("ecdsa_secp256r1_sha256_test.json", true)])
    func `every vector is judged as it says`(name: String, isDER: Bool) throws {
        let file = URL(filePath: try #require(wycheproofFolder)).appending(path: name)
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
        var count = 0
        for group in vectors.testGroups {
            // 4, and the two coordinates (SEC 1, section 2.3.3).
            let point = [UInt8](hexadecimal: group.publicKey.uncompressed)
            let verifiers = try SignatureEdgeTests.Verifiers(Array(point.dropFirst()))
            for vector in group.tests {
                let signature = [UInt8](hexadecimal: vector.sig)
                let raw = isDER ? try? signature.withUnsafeBytes { try ECDSASignature.raw($0) } : signature
                let digest = try SHA256Digest.digest([UInt8](hexadecimal: vector.msg))
                let answer = try raw.map { try verifiers.answer($0, digest) } ?? false
                #expect(answer == (vector.result == "valid"), "\(name) \(vector.tcId): \(vector.comment)")
                count += 1
            }
        }
        #expect(count == vectors.numberOfTests && count > 200)
    }
}
