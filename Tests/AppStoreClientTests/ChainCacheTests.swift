import Foundation
import JOSE
import OpenSSL
import Synchronization
import Testing

@testable import AppStoreClient

struct ChainCacheTests {
    private let start = Date(timeIntervalSince1970: 1_000)
    private let end = Date(timeIntervalSince1970: 2_000)

    private func trusted(_ name: String) throws -> ChainCache.TrustedHeader {
        ChainCache.TrustedHeader(
            header: JOSEHeader(keyID: name),
            chain: VerifiedChain(leafPublicKey: try ECPrivateKey.generate().publicKey, validity: start..<end))
    }

    private func isKnown(_ cache: ChainCache, _ trusted: ChainCache.TrustedHeader, at date: Date) -> Bool {
        cache.trusted(trusted.header.rawSegment[...], at: date) != nil
    }

    @Test func `a chain counts only for data signed while it was valid`() throws {
        let cache = ChainCache(capacity: 2, lifetime: .seconds(60), now: { ContinuousClock.now })
        let trusted = try trusted("a")
        cache.insert(trusted)
        #expect(isKnown(cache, trusted, at: start))
        #expect(!isKnown(cache, trusted, at: start.addingTimeInterval(-1)))
        #expect(!isKnown(cache, trusted, at: end))
    }

    @Test func `the oldest chain goes first when there is no room`() throws {
        let cache = ChainCache(capacity: 2, lifetime: .seconds(60), now: { ContinuousClock.now })
        let chains = try ["a", "b", "c"].map(trusted)
        for chain in chains { cache.insert(chain) }
        #expect(cache.count == 2)
        #expect(chains.map { isKnown(cache, $0, at: start) } == [false, true, true])
    }

    @Test func `a chain is verified again after its lifetime`() throws {
        let instant = Mutex(ContinuousClock.now)
        let cache = ChainCache(capacity: 2, lifetime: .seconds(60), now: { instant.withLock { $0 } })
        let trusted = try trusted("a")
        cache.insert(trusted)
        instant.withLock { $0 += .seconds(59) }
        #expect(isKnown(cache, trusted, at: start))
        instant.withLock { $0 += .seconds(1) }
        #expect(!isKnown(cache, trusted, at: start))
    }
}
