import Domain
import Testing

/// Where callbacks may post.
struct CallbackPolicyTests {
    private func policy(hosts: [String] = [], networks: [String] = []) throws -> CallbackPolicy {
        var policy = CallbackPolicy()
        policy.allowedHosts = hosts
        policy.allowedNetworks = try networks.map { try #require(IPNetwork($0)) }
        return policy
    }

    @Test(arguments: [
        "127.0.0.1", "127.8.8.8", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "fe80::1", "fc00::1",
        "fd12:3456::1", "ff02::1", "2001:db8::1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1",
    ])
    func `what is not the public Internet is refused`(address: String) throws {
        let bytes = try #require(SourceNetwork.writtenBytes(of: address))
        #expect(try !policy(hosts: ["*"]).admits(address: bytes))
    }

    /// Every form in which an IPv6 address contains an IPv4 address; `%` is where.
    @Test(arguments: [
        "::ffff:0:%", "::ffff:%", "::%", "64:ff9b:1::%", "2001:db8:64::%", "2002:%::1", "2001:0:%::1",
        "2001:0:4136:e378::%",
        "2606:4700::5efe:%", "2606:4700::200:5efe:%", "fe80::5efe:%",
    ])
    func `an IPv6 address that contains an IPv4 address is refused, be that public or not`(form: String) throws {
        // In the middle of an address it is written in hexadecimal.
        let inside = ["8.8.8.8": "808:808", "10.0.0.1": "a00:1", "127.0.0.1": "7f00:1"]
        for (ipv4, groups) in inside {
            let text = form.replacing("%", with: form.hasSuffix("%") ? ipv4 : groups)
            let bytes = try #require(SourceNetwork.writtenBytes(of: text), "\(text)")
            #expect(bytes.count == 16)
            #expect(try !policy(hosts: ["*"]).admits(address: bytes), "\(text)")
        }
    }

    @Test func `NAT64's well-known prefix is judged by the IPv4 address within`() throws {
        for (ipv4, isAdmitted) in [
            ("8.8.8.8", true), ("17.253.144.10", true), ("9.255.255.255", true), ("10.0.0.0", false),
            ("127.0.0.1", false), ("169.254.169.254", false), ("172.32.0.0", true), ("192.168.0.1", false),
            ("255.255.255.255", false),
        ] {
            let bytes = try #require(SourceNetwork.writtenBytes(of: "64:ff9b::\(ipv4)"))
            #expect(try policy().admits(address: bytes) == isAdmitted, "\(ipv4)")
        }
    }

    @Test func `an IPv4-mapped address is of the allowed network of its IPv4 address`() throws {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1]
        #expect(try !policy().admits(address: mapped))
        #expect(try policy(networks: ["127.0.0.1"]).admits(address: mapped))
        #expect(try !policy(networks: ["127.0.0.1"]).admits(address: mapped.dropLast() + [2]))
    }

    @Test(arguments: [
        "8.8.8.8", "17.253.144.10", "2606:4700:4700::1111", "64:ff9b::8.8.8.8", "2606:4700::5eff:808:808",
        "2606:4700::100:5efe:808:808",
    ])
    func `public addresses are admitted`(address: String) throws {
        let bytes = try #require(SourceNetwork.bytes(of: address))
        #expect(try policy().admits(address: bytes))
    }

    @Test func `a network that is named is admitted, and no other`() throws {
        let policy = try policy(networks: ["10.20.0.0/16", "fd00::/8"])
        #expect(policy.admits(address: [10, 20, 1, 1]) && !policy.admits(address: [10, 21, 1, 1]))
        #expect(policy.admits(address: try #require(SourceNetwork.bytes(of: "fd00::1"))))
        #expect(!policy.admits(address: []))
    }

    @Test(arguments: [
        ("https://hooks.example.com/a", ["hooks.example.com"], true),
        ("https://HOOKS.example.com.:8443/a?b=c", ["hooks.example.com"], true),
        ("https://hooks.example.com/a", [], false),
        ("https://hooks.example.com/a", ["example.com"], false),
        ("https://hooks.example.com/a", ["*.example.com"], true),
        ("https://example.com/a", ["*.example.com"], false),
        ("https://evilexample.com/", ["*.example.com"], false),
        ("https://anything.test/", ["*"], true),
        ("https://[fd00::1]:8443/", ["fd00::1"], true),
    ])
    func `a host is admitted that the configuration names`(url: String, hosts: [String], isAdmitted: Bool) throws {
        #expect(try policy(hosts: hosts).admits(try #require(CallbackURL(url))) == isAdmitted)
    }

    @Test(arguments: [
        "", "http://a.test/", "https://", "https:///x", "https://u@a.test/", "https://u:p@a.test/", "https://a.test/#x",
        "https://a.test\\@b.test/", "https://a.test/ x", "https://a.test:0/", "https://a.test:99999/", "https://[x]/",
        "https://a.test/é", "ftp://a.test/", "https://a%2etest/",
    ])
    func `what two readers could read differently is no URL`(text: String) {
        #expect(CallbackURL(text) == nil)
    }
}
