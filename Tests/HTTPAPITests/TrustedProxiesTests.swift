import Domain
import Testing

@testable import HTTPAPI

/// Where a request came from, by the connection and by what trusted proxies say.
struct TrustedProxiesTests {
    private func source(_ networks: [String], peer: String?, _ forwarded: String...) throws -> String? {
        TrustedProxies(try networks.map { try #require(TrustedProxies.Network($0)) })
            .source(peer: peer, forwarded: forwarded)
    }

    @Test func `without trusted proxies the connection alone counts`() throws {
        #expect(try source([], peer: "203.0.113.9", "198.51.100.1") == "203.0.113.9")
        #expect(try source(["10.0.0.0/8"], peer: "203.0.113.9", "198.51.100.1") == "203.0.113.9")
        #expect(try source(["10.0.0.0/8"], peer: nil, "198.51.100.1") == nil)
    }

    @Test func `a trusted proxy is believed, and whoever stands before it only if trusted too`() throws {
        let networks = ["10.0.0.0/8", "fd00::/8"]
        #expect(try source(networks, peer: "10.1.2.3", "198.51.100.1") == "198.51.100.1")
        #expect(try source(networks, peer: "10.1.2.3", "192.0.2.1, 198.51.100.1,10.9.9.9") == "198.51.100.1")
        #expect(try source(networks, peer: "10.1.2.3", "192.0.2.1", "198.51.100.1") == "198.51.100.1")
        #expect(try source(networks, peer: "fd00::1", "2001:DB8::1") == "2001:db8::1")
        #expect(try source(networks, peer: "10.1.2.3") == "10.1.2.3")
        #expect(try source(networks, peer: "10.1.2.3", "10.0.0.7") == "10.0.0.7")
    }

    @Test func `ports, brackets and mapped addresses are understood, and what is no address ends the way`() throws {
        #expect(try source(["127.0.0.1"], peer: "::ffff:127.0.0.1", "198.51.100.1:4711") == "198.51.100.1")
        #expect(try source(["::1/128"], peer: "::1", "[2001:db8::7]:443") == "2001:db8::7")
        #expect(try source([], peer: "::ffff:203.0.113.9") == "203.0.113.9")
        for unknown in ["unknown", "", "198.51.100.1, _hidden", "[::1"] {
            #expect(try source(["127.0.0.1"], peer: "127.0.0.1", unknown) == nil, "\(unknown)")
        }
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "fd00::1/8", "fd00::/129", "example.com",
        "10.0.0/8",
    ])
    func `what is no network is refused`(text: String) { #expect(TrustedProxies.Network(text) == nil) }

    @Test func `a network ends where its prefix ends`() throws {
        #expect(try source(["192.0.2.128/25"], peer: "192.0.2.127", "198.51.100.1") == "192.0.2.127")
        #expect(try source(["192.0.2.128/25"], peer: "192.0.2.128", "198.51.100.1") == "198.51.100.1")
        #expect(try source(["0.0.0.0/0"], peer: "192.0.2.128", "198.51.100.1") == "198.51.100.1")
        #expect(try source(["0.0.0.0/0"], peer: "2001:db8::1", "198.51.100.1") == "2001:db8::1")
    }
}
