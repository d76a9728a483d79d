import Daemon
import Domain
import HTTPAPI
import Listener
import Testing

struct ConfigurationListenersTests {
    private func places(_ listeners: String) -> [String] {
        ConfigurationFixture.places(ConfigurationFixture.minimal + "listeners:\n" + listeners)
    }

    @Test func theDefaultAddressesAreLocal() throws {
        let listeners = try ConfigurationFixture.configuration(ConfigurationFixture.minimal).listeners
        #expect(
            listeners.api
                == ListenerSettings(address: .tcp(host: "127.0.0.1", port: 8080), maximumBodyBytes: 12 << 20))
        #expect(listeners.webhook == ListenerSettings(address: .tcp(host: "127.0.0.1", port: 8081)))
        #expect(listeners.webhook?.maximumBodyBytes == 1 << 20)
        #expect(
            listeners.admin
                == ListenerSettings(
                    address: .unix(path: "/run/purser/admin.sock", mode: 0o600), maximumRequests: nil))
        #expect(
            listeners.health == ListenerSettings(address: .tcp(host: "127.0.0.1", port: 9090), maximumRequests: nil))
    }

    @Test func aListenerIsSwitchedOffByNoneButNotAllOfThem() throws {
        let off = ConfigurationFixture.minimal + "listeners: { admin: { address: none }, health: { address: none } }\n"
        let listeners = try ConfigurationFixture.configuration(off).listeners
        #expect(listeners.admin == nil)
        #expect(listeners.health == nil)
        #expect(listeners.api != nil)
        let all = ["api", "webhook", "admin", "health"].map { "  \($0): { address: none }\n" }
        #expect(places(all.joined()) == ["14 listeners"])
    }

    @Test(arguments: [
        "0.0.0.0:8080", "10.0.0.1:8080", "[::]:8080", "[fe80::1]:8080", "[::ffff:10.0.0.1]:8080",
    ])
    func theListenerForCallersStaysOnThisMachine(address: String) {
        #expect(places("  api: { address: \"\(address)\" }\n") == ["15 listeners.api.address"])
        // Neither takes a credential, and monitoring and an ingress are on other machines.
        #expect(places("  health: { address: \"\(address)\" }\n") == [])
        let webhook = "  api: { address: \"127.0.0.1:1\" }\n  webhook: { address: \"\(address)\" }\n"
        #expect(places(webhook) == [])
    }

    @Test(arguments: ["127.0.0.1:8088", "127.1.2.3:8088", "[::1]:8088", "unix:/run/purser/api.sock"])
    func loopbackAddressesAndUnixSocketsAreAllowed(address: String) {
        #expect(places("  api: { address: \"\(address)\" }\n") == [])
    }

    @Test(arguments: ["127.0.0.1:8082", "[::1]:8082", "127.0.0.1:0", "10.0.0.1:8082"])
    func operatorsComeOverAUnixSocketOnlyAndAreToldWhatToWriteInstead(address: String) throws {
        let yaml = ConfigurationFixture.minimal + "listeners:\n  admin: { address: \"\(address)\" }\n"
        let problems = ConfigurationFixture.problems(yaml)
        let problem = try #require(problems.first)
        #expect(problems.count == 1)
        #expect(problem.key == "listeners.admin.address")
        #expect(problem.origin.line == 15)
        #expect(problem.message.contains("address: \"unix:/run/purser/admin.sock\""))
        #expect(problem.message.contains("docs/operations.md#update"))
    }

    @Test func theOperatorsSocketHasNoTLS() {
        let tls =
            "tls: { certificateChain: /a, privateKey: /b, clientCertificateAuthorities: /c, clientCertificates: optional }"
        #expect(
            places("  admin: { address: unix:/a.sock, \(tls) }\n")
                == [
                    "15 listeners.admin.tls.certificateChain", "15 listeners.admin.tls.privateKey",
                    "15 listeners.admin.tls.clientCertificateAuthorities", "15 listeners.admin.tls.clientCertificates",
                ])
        let variables = [
            "PURSER_LISTENERS_ADMIN_ADDRESS": "127.0.0.1:8082", "PURSER_LISTENERS_ADMIN_TLS_PRIVATE_KEY": "/b",
        ]
        let keys = ConfigurationFixture.problems(ConfigurationFixture.minimal, environment: variables).map(\.key)
        #expect(
            keys == [
                "listeners.admin.tls.certificateChain", "listeners.admin.address", "listeners.admin.tls.privateKey",
            ])
    }

    @Test func `gRPC is off unless it has an address, and then as open to the network as the API`() throws {
        func listener(_ settings: String) throws -> ListenerSettings? {
            let yaml = ConfigurationFixture.minimal + "listeners:\n  grpc: { \(settings) }\n"
            return try ConfigurationFixture.configuration(yaml).listeners.grpc
        }
        #expect(try ConfigurationFixture.configuration(ConfigurationFixture.minimal).listeners.grpc == nil)
        let plain = try #require(try listener(#"address: "127.0.0.1:8082""#))
        #expect(!plain.reflection && plain.tls == nil && plain.maximumBodyBytes == 12 << 20)
        let local = try #require(try listener(#"address: "unix:/run/purser/grpc.sock", reflection: true"#))
        #expect(local.reflection && local.address.isUnix)
        #expect(places("  grpc: { address: \"0.0.0.0:8082\" }\n") == ["15 listeners.grpc.address"])
        let open = try #require(
            try listener(#"address: "0.0.0.0:8082", tls: { certificateChain: /a, privateKey: /b }"#))
        #expect(open.tls?.applicationProtocol == "h2")
        // Nobody else reflects.
        #expect(places("  api: { reflection: true }\n") == ["15 listeners.api.reflection"])
    }

    @Test func `operators who speak gRPC have a socket of their own, as those who do not`() throws {
        func listener(_ settings: String) throws -> ListenerSettings? {
            let yaml = ConfigurationFixture.minimal + "listeners:\n  grpcAdmin: { \(settings) }\n"
            return try ConfigurationFixture.configuration(yaml).listeners.grpcAdmin
        }
        #expect(try ConfigurationFixture.configuration(ConfigurationFixture.minimal).listeners.grpcAdmin == nil)
        let local = try #require(try listener(#"address: "unix:/run/purser/grpc-admin.sock", maximumBodyBytes: 2MiB"#))
        #expect(local.address.isUnix && local.maximumRequests == nil && local.maximumBodyBytes == 2 << 20)
        #expect(places("  grpcAdmin: { address: \"127.0.0.1:8083\" }\n") == ["15 listeners.grpcAdmin.address"])
        let tls = #"tls: { certificateChain: "/a", privateKey: "/b" }"#
        #expect(
            places("  grpcAdmin: { address: \"unix:/a.sock\", \(tls) }\n") == [
                "15 listeners.grpcAdmin.tls.certificateChain", "15 listeners.grpcAdmin.tls.privateKey",
            ])
        #expect(
            places("  grpcAdmin: { address: \"unix:/a.sock\", reflection: true }\n")
                == ["15 listeners.grpcAdmin.reflection"])
    }

    @Test(arguments: ["api", "webhook", "health", "appleProduction", "appleSandbox"])
    func aListenerWithACertificateMayAskItsClientsForTheirs(name: String) throws {
        func tls(_ settings: String) throws -> ListenerTLS? {
            let yaml = """
                \(ConfigurationFixture.minimal)listeners:
                  \(name): { address: "127.0.0.1:8443", tls: { certificateChain: /a, privateKey: /b\(settings) } }

                """
            return try ConfigurationFixture.configuration(yaml).listeners.all.first { $0.name == name }?.settings.tls
        }
        func expected(_ isRequired: Bool) -> ListenerTLS {
            ListenerTLS(
                certificateChainFile: "/a", privateKeyFile: "/b",
                clientCertificates: .init(authoritiesFile: "/c", isRequired: isRequired))
        }
        #expect(try tls("") == ListenerTLS(certificateChainFile: "/a", privateKeyFile: "/b"))
        #expect(try tls(", clientCertificateAuthorities: /c") == expected(true))
        #expect(try tls(", clientCertificateAuthorities: /c, clientCertificates: required") == expected(true))
        #expect(try tls(", clientCertificateAuthorities: /c, clientCertificates: optional") == expected(false))
    }

    @Test func certificatesOfClientsNeedAuthoritiesAndTLS() {
        let files = "certificateChain: /a, privateKey: /b"
        #expect(
            places("  api: { tls: { \(files), clientCertificates: optional } }\n")
                == ["15 listeners.api.tls.clientCertificateAuthorities"])
        #expect(
            places("  api: { tls: { \(files), clientCertificateAuthorities: /c, clientCertificates: maybe } }\n")
                == ["15 listeners.api.tls.clientCertificates"])
        #expect(
            places("  api: { tls: { clientCertificateAuthorities: /c } }\n")
                == ["15 listeners.api.tls.certificateChain"])
    }

    @Test func aModeIsOctalAndOnlyForUnixSockets() throws {
        let yaml = ConfigurationFixture.minimal + "listeners: { admin: { address: unix:/a.sock, mode: \"0660\" } }\n"
        let admin = try #require(try ConfigurationFixture.configuration(yaml).listeners.admin)
        #expect(admin.address == .unix(path: "/a.sock", mode: 0o660))
        #expect(places("  admin:\n    mode: \"0888\"\n") == ["16 listeners.admin.mode"])
        #expect(places("  admin:\n    mode: 7777\n") == ["16 listeners.admin.mode"])
        #expect(places("  api:\n    mode: \"0660\"\n") == ["16 listeners.api.mode"])
    }

    @Test func aGroupIsANameAndOnlyForUnixSockets() throws {
        let yaml = ConfigurationFixture.minimal + "listeners: { admin: { group: purser-admin } }\n"
        #expect(try ConfigurationFixture.configuration(yaml).listeners.admin?.group == "purser-admin")
        #expect(places("  admin:\n    group: \"wheel:root\"\n") == ["16 listeners.admin.group"])
        #expect(places("  api:\n    group: services\n") == ["16 listeners.api.group"])
    }

    @Test(arguments: [
        ("address", "nowhere"), ("address", "unix:relative.sock"), ("address", "127.0.0.1:65536"),
        ("address", "127.0.0.1"), ("address", "localhost:8080"),
        ("maximumConnections", "0"), ("maximumRequests", "0"), ("maximumRequests", "100001"),
        ("maximumConnections", "many"), ("maximumHeaderBytes", "1023"),
        ("maximumHeaderBytes", "2MiB"), ("maximumBodyBytes", "65MiB"), ("maximumBodyBytes", "-1"),
        ("idleTimeout", "75"), ("idleTimeout", "500ms"), ("idleTimeout", "2h"),
    ])
    func valuesOutOfRangeAreReported(key: String, value: String) {
        #expect(places("  api:\n    \(key): \"\(value)\"\n") == ["16 listeners.api.\(key)"])
    }

    @Test(arguments: ["admin", "health"])
    func whereOneAsksHowTheDaemonIsNobodyIsTurnedAway(name: String) {
        #expect(places("  \(name): { maximumRequests: 5 }\n") == ["15 listeners.\(name).maximumRequests"])
        #expect(places("  webhook: { maximumRequests: 5 }\n") == [])
    }

    @Test func trustedProxiesAreNetworksOfTheListenerForCallers() throws {
        let yaml =
            ConfigurationFixture.minimal
            + "listeners: { api: { trustedProxies: [10.0.0.0/8, \"fd00::/8\", 127.0.0.1] } }\n"
        let networks = try ["10.0.0.0/8", "fd00::/8", "127.0.0.1"].map { try #require(TrustedProxies.Network($0)) }
        #expect(
            try ConfigurationFixture.configuration(yaml).listeners.api?.trustedProxies == TrustedProxies(networks))
        #expect(
            places("  api:\n    trustedProxies:\n      - 10.0.0.1/8\n      - example.com\n")
                == ["17 listeners.api.trustedProxies[0]", "18 listeners.api.trustedProxies[1]"])
        #expect(places("  health:\n    trustedProxies: [10.0.0.0/8]\n") == ["16 listeners.health.trustedProxies"])
    }

    @Test func twoListenersNeedTwoAddressesUnlessTheKernelPicksThePort() {
        let same = "  api: { address: \"127.0.0.1:7000\" }\n  health: { address: \"127.0.0.1:7000\" }\n"
        #expect(places(same) == ["16 listeners.health.address"])
        let free = "  api: { address: \"127.0.0.1:0\" }\n  health: { address: \"127.0.0.1:0\" }\n"
        #expect(places(free) == [])
    }

    @Test func aDoorIsOffUnlessItHasAnAddress() throws {
        let none = try ConfigurationFixture.configuration(ConfigurationFixture.minimal).listeners
        #expect(none.appleProduction == nil)
        #expect(none.appleSandbox == nil)
        let yaml = """
            \(ConfigurationFixture.minimal)listeners:
              appleProduction: { address: "127.0.0.1:8443" }
              appleSandbox: { address: "unix:/run/purser/sandbox.sock", maximumBodyBytes: 2MiB }

            """
        let doors = try ConfigurationFixture.configuration(yaml).listeners
        #expect(
            doors.appleProduction
                == ListenerSettings(address: .tcp(host: "127.0.0.1", port: 8443), maximumBodyBytes: 10 << 20))
        #expect(
            doors.appleSandbox
                == ListenerSettings(
                    address: .unix(path: "/run/purser/sandbox.sock", mode: 0o600), maximumBodyBytes: 2 << 20))
        #expect(doors.all.map(\.name) == ["api", "webhook", "admin", "health", "appleProduction", "appleSandbox"])
    }

    @Test(arguments: ["appleProduction", "appleSandbox"])
    func aDoorThatOtherMachinesReachNeedsACertificate(name: String) {
        #expect(places("  \(name): { address: \"10.0.0.1:443\" }\n") == ["15 listeners.\(name).address"])
        #expect(
            places("  \(name): { address: \"10.0.0.1:443\", tls: { certificateChain: /a, privateKey: /b } }\n") == [])
    }

    @Test func twoDoorsNeedTwoAddresses() {
        let same =
            "  appleProduction: { address: \"127.0.0.1:7000\" }\n  appleSandbox: { address: \"127.0.0.1:7000\" }\n"
        #expect(places(same) == ["16 listeners.appleSandbox.address"])
    }
}
