import OpenSSL
import Testing

@Suite struct OpenSSLErrorTests {
    @Test func anErrorCarriesTheLibrarysTextAndLeavesNothingBehind() throws {
        let junk = try SecureBytes(count: 3) { $0.copyBytes(from: [1, 2, 3]) }
        func load() -> OpenSSLError? {
            do throws(OpenSSLError) {
                _ = try IssuingKey(pkcs8PEM: junk)
                return nil
            } catch {
                return error
            }
        }
        let first = try #require(load())
        #expect(first.operation == "PEM_read_bio_PrivateKey")
        #expect(first.codes.count == first.reasons.count)
        #expect(first.reasons.contains { $0.hasPrefix("error:") })
        #expect(first.description.hasPrefix("PEM_read_bio_PrivateKey failed: error:"))
        // Had the first left anything in the thread's queue, the second would hold it too.
        #expect(load() == first)
    }

    @Test func aRefusalLeavesNothingForTheNextError() throws {
        let junk = try SecureBytes(count: 3) { $0.copyBytes(from: [1, 2, 3]) }
        func load() -> OpenSSLError? {
            do throws(OpenSSLError) {
                _ = try IssuingKey(pkcs8PEM: junk)
                return nil
            } catch {
                return error
            }
        }
        let alone = load()
        _ = try? ECPublicKey(derRepresentation: [1, 2, 3])
        _ = try? ECPublicKey(rawRepresentation: [UInt8](repeating: 0, count: 64))
        _ = try? ECPrivateKey(pkcs8PEM: Array(KeyFixtures.secp256k1.utf8))
        _ = try? ECPrivateKey(pkcs8PEM: Array(KeyFixtures.ed25519.utf8))
        let key = try ECPrivateKey.generate().publicKey
        _ = try key.isValidSignature([UInt8](repeating: 1, count: 64), for: [])
        #expect(load() == alone)
    }
}
