import Foundation
import JOSE
import OpenSSL
import Synchronization
import Testing

@testable import AppStoreClient

/// Which chains get tables of their keys' multiples, and for how long.
struct ChainCachePrecomputationTests {
    private let date = Date(timeIntervalSince1970: 1_000)

    /// A moment that stands still, and work that was left to the background.
    private final class Dependencies: Sendable {
        let instant = Mutex(ContinuousClock.now)
        private let work = Mutex<[@Sendable () -> Void]>([])

        func cache(maximumTables: Int = 2) -> ChainCache {
            ChainCache(
                capacity: 8, lifetime: .seconds(60),
                precomputation: .init(
                    uses: 3, maximumTables: maximumTables,
                    inBackground: { body in self.work.withLock { $0.append(body) } }),
                now: { self.instant.withLock(\.self) })
        }

        /// Does the work and says how much it was.
        func runBackground() -> Int {
            let bodies = work.withLock { work in
                defer { work = [] }
                return work
            }
            for body in bodies { body() }
            return bodies.count
        }
    }

    private func trusted(
        _ name: String, _ dependencies: Dependencies, key: ECPublicKey? = nil
    ) throws -> ChainCache.TrustedSigner {
        ChainCache.TrustedSigner(
            certificates: [Array(name.utf8), [1]],
            signer: try KnownSigner(
                header: JOSEHeader(keyID: name), key: try key ?? ECPrivateKey.generate().publicKey),
            validity: date..<date + 1, verifiedAt: dependencies.instant.withLock(\.self))
    }

    private func use(_ cache: ChainCache, _ chain: ChainCache.TrustedSigner, times: Int) throws -> KnownSigner {
        for _ in 0..<times {
            cache.use(try #require(cache.trusted(chain.signer.header.rawSegment[...], at: date)))
        }
        return try #require(cache.trusted(chain.signer.header.rawSegment[...], at: date)).signer
    }

    @Test func `a chain gets a table once it has been used often, in the background`() throws {
        let dependencies = Dependencies()
        let cache = dependencies.cache()
        let chain = try trusted("a", dependencies)
        cache.use(chain)
        _ = try use(cache, chain, times: 1)
        #expect(dependencies.runBackground() == 0)
        #expect(try !use(cache, chain, times: 1).key.hasPrecomputedMultiples)
        #expect(dependencies.runBackground() == 1)
        #expect(try use(cache, chain, times: 20).key.hasPrecomputedMultiples)
        #expect(dependencies.runBackground() == 0)
    }

    @Test func `no more chains than the bound have a table`() throws {
        let dependencies = Dependencies()
        let cache = dependencies.cache()
        let chains = try ["a", "b", "c"].map { try trusted($0, dependencies) }
        for chain in chains {
            cache.use(chain)
            _ = try use(cache, chain, times: 9)
        }
        #expect(dependencies.runBackground() == 2)
        let tables = try chains.map { try use(cache, $0, times: 1).key.hasPrecomputedMultiples }
        #expect(tables == [true, true, false])
    }

    @Test func `an expired chain makes room for another's table`() throws {
        let dependencies = Dependencies()
        let cache = dependencies.cache(maximumTables: 1)
        let old = try trusted("old", dependencies)
        cache.use(old)
        _ = try use(cache, old, times: 3)
        dependencies.instant.withLock { $0 += .seconds(30) }
        let new = try trusted("new", dependencies)
        cache.use(new)
        _ = try use(cache, new, times: 2)
        #expect(dependencies.runBackground() == 1)
        dependencies.instant.withLock { $0 += .seconds(30) }
        #expect(try !use(cache, new, times: 3).key.hasPrecomputedMultiples)
        #expect(dependencies.runBackground() == 1)
        #expect(try use(cache, new, times: 1).key.hasPrecomputedMultiples)
        #expect(cache.count == 1)
    }

    @Test func `a chain that is verified again keeps its table`() throws {
        let dependencies = Dependencies()
        let cache = dependencies.cache()
        let chain = try trusted("a", dependencies)
        cache.use(chain)
        _ = try use(cache, chain, times: 3)
        #expect(dependencies.runBackground() == 1)
        dependencies.instant.withLock { $0 += .seconds(60) }
        #expect(cache.trusted(chain.signer.header.rawSegment[...], at: date) == nil)
        let sameKey = try ECPublicKey(rawRepresentation: chain.signer.key.rawRepresentation)
        cache.use(try trusted("a", dependencies, key: sameKey))
        #expect(try use(cache, chain, times: 1).key.hasPrecomputedMultiples)
        #expect(cache.count == 1)
    }
}
