import Domain
import Foundation
import Testing

/// What a connection proves, and for how long.
struct PeerIdentityTests {
    @Test func `a certificate proves something until its last moment, and a process for good`() {
        let end = Date(timeIntervalSince1970: 1_000)
        let unixPeer = PeerIdentity.UnixPeer(uid: 1, gid: 2)
        let identity = PeerIdentity(
            unixPeer: unixPeer, certificate: .init(uris: ["spiffe://example.org/billing"], notAfter: end))
        #expect(identity.valid(at: end) == identity)
        #expect(identity.valid(at: end.addingTimeInterval(0.001)) == PeerIdentity(unixPeer: unixPeer))
        #expect(PeerIdentity(unixPeer: unixPeer).valid(at: .distantFuture) == PeerIdentity(unixPeer: unixPeer))
    }
}
