import Foundation
import JOSE
import OpenSSL
import Synchronization
import Testing

@testable import AppStoreClient

struct ChainCacheTests {
    private let start = Date(timeIntervalSince1970: 1_000)
    private let end = Date(timeIntervalSince1970: 2_000)

    private func trusted(
        _ name: String, header: JOSEHeader? = nil, verifiedAt: ContinuousClock.Instant = .now
    ) throws -> ChainCache.TrustedSigner {
        ChainCache.TrustedSigner(
            certificates: [Array(name.utf8), [1]],
            signer: try KnownSigner(
                header: header ?? JOSEHeader(keyID: name), key: try ECPrivateKey.generate().publicKey),
            validity: start..<end, verifiedAt: verifiedAt)
    }

    /// A cache in whose time nothing grows old.
    private func cache() -> ChainCache {
        let instant = ContinuousClock.now
        return ChainCache(capacity: 2, lifetime: .seconds(60), now: { instant })
    }

    private func isKnown(_ cache: ChainCache, _ trusted: ChainCache.TrustedSigner, at date: Date) -> Bool {
        cache.trusted(trusted.signer.header.rawSegment[...], at: date) != nil
    }

    @Test func `a chain counts only for data signed while it was valid`() throws {
        let cache = self.cache()
        let trusted = try trusted("a")
        cache.use(trusted)
        #expect(isKnown(cache, trusted, at: start))
        #expect(!isKnown(cache, trusted, at: start.addingTimeInterval(-1)))
        #expect(!isKnown(cache, trusted, at: end))
    }

    @Test func `the chain that was not used for longest goes first when there is no room`() throws {
        let cache = self.cache()
        let chains = try ["a", "b", "c", "d"].map { try trusted($0) }
        for chain in chains.prefix(3) { cache.use(chain) }
        #expect(cache.count == 2)
        #expect(chains.map { isKnown(cache, $0, at: start) } == [false, true, true, false])
        cache.use(chains[1])
        cache.use(chains[3])
        #expect(chains.map { isKnown(cache, $0, at: start) } == [false, true, false, true])
    }

    @Test func `a chain is known by the whole of its header`() throws {
        let cache = self.cache()
        let chain = try trusted("a")
        cache.use(chain)
        let header = chain.signer.header.rawSegment
        for position in header.indices {
            var other = header
            other[position] ^= 1
            #expect(cache.trusted(other[...], at: start) == nil)
        }
        #expect(cache.trusted(header.dropLast(), at: start) == nil)
        #expect(cache.trusted([], at: start) == nil)
        #expect(cache.trusted(([0] + header).dropFirst(), at: start) != nil)
    }

    @Test func `headers that differ are one chain if their certificates are`() throws {
        let cache = self.cache()
        let first = try trusted("a")
        cache.use(first)
        for number in 0..<100 {
            let header = JOSEHeader(keyID: "\(number)")
            #expect(cache.trusted(header.rawSegment[...], at: start) == nil)
            let known = try #require(try cache.trusted(first.certificates, of: header, at: start))
            #expect(known.signer.header == header && known.signer.key == first.signer.key)
            if number.isMultiple(of: 10) { cache.use(known) }
        }
        #expect(cache.count == 1)
        #expect(cache.trusted(JOSEHeader(keyID: "90").rawSegment[...], at: start) != nil)
        #expect(try cache.trusted([first.certificates[0], [2]], of: first.signer.header, at: start) == nil)
    }

    @Test func `a chain is verified again after its lifetime, however often it is used`() throws {
        let instant = Mutex(ContinuousClock.now)
        let cache = ChainCache(capacity: 2, lifetime: .seconds(60), now: { instant.withLock { $0 } })
        let trusted = try trusted("a", verifiedAt: instant.withLock { $0 })
        cache.use(trusted)
        instant.withLock { $0 += .seconds(59) }
        #expect(isKnown(cache, trusted, at: start))
        cache.use(trusted)
        instant.withLock { $0 += .seconds(1) }
        #expect(!isKnown(cache, trusted, at: start))
        #expect(try cache.trusted(trusted.certificates, of: trusted.signer.header, at: start) == nil)
    }
}
