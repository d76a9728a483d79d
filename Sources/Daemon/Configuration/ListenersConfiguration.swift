import Domain
package import HTTPAPI
package import Listener

/// The sockets that the daemon listens on; one that is `nil` is switched off.
package struct ListenersConfiguration: Sendable, Equatable {
    /// For internal services: `/v1`.
    package let api: ListenerSettings?
    /// For internal services that speak gRPC: the same as `api`.
    package let grpc: ListenerSettings?
    /// For Apple's notifications, the only one that an ingress may expose: `/webhooks/apple/{app}`.
    package let webhook: ListenerSettings?
    /// For operators: details of health, keys, callers, repairs; a Unix socket, always.
    package let admin: ListenerSettings?
    /// For operators' programs that speak gRPC: the same as `admin`, and a Unix socket too.
    package let grpcAdmin: ListenerSettings?
    /// For orchestrators: `/livez`, `/readyz` and `/metrics`.
    package let health: ListenerSettings?
    /// For programs written for Apple's production server.
    package let appleProduction: ListenerSettings?
    /// For programs written for Apple's sandbox.
    package let appleSandbox: ListenerSettings?

    /// All listeners there can be, in the order of the configuration.
    private static let listeners: [(name: String, settings: @Sendable (ListenersConfiguration) -> ListenerSettings?)] =
        [
            ("api", { $0.api }), ("grpc", { $0.grpc }), ("webhook", { $0.webhook }), ("admin", { $0.admin }),
            ("grpcAdmin", { $0.grpcAdmin }), ("health", { $0.health }), ("appleProduction", { $0.appleProduction }),
            ("appleSandbox", { $0.appleSandbox }),
        ]

    /// Their names.
    static var names: [String] { listeners.map(\.name) }

    package init(
        api: ListenerSettings? = nil, grpc: ListenerSettings? = nil, webhook: ListenerSettings? = nil,
        admin: ListenerSettings? = nil, grpcAdmin: ListenerSettings? = nil, health: ListenerSettings? = nil,
        appleProduction: ListenerSettings? = nil, appleSandbox: ListenerSettings? = nil
    ) {
        self.api = api
        self.grpc = grpc
        self.webhook = webhook
        self.admin = admin
        self.grpcAdmin = grpcAdmin
        self.health = health
        self.appleProduction = appleProduction
        self.appleSandbox = appleSandbox
    }

    /// Those that are switched on, by name.
    package var all: [(name: String, settings: ListenerSettings)] {
        Self.listeners.compactMap { name, settings in settings(self).map { (name, $0) } }
    }

    /// A listener by its name; nil where it is switched off.
    subscript(name: String) -> ListenerSettings? { all.first { $0.name == name }?.settings }
}

/// One listener: where it is bound and what it takes at most.
package struct ListenerSettings: Sendable, Equatable {
    package let address: ListenerAddress
    /// The group of a Unix socket's file, by name or number; nil for the daemon's own.
    package let group: String?
    /// Whether every user of the machine may be allowed to use an operators' Unix socket.
    package let allowsEverybody: Bool
    /// Connections open at once; for more, those go that rest, or the new ones wait.
    package let maximumConnections: Int
    /// Requests worked on at once, nil for no bound; more are shed with 503.
    package let maximumRequests: Int?
    /// The largest request head, in bytes.
    package let maximumHeaderBytes: Int
    /// The largest request body, in bytes.
    package let maximumBodyBytes: Int
    /// How long a connection may stay silent before it is closed.
    package let idleTimeout: Duration
    /// The certificate for TLS; nil serves plain HTTP.
    package let tls: ListenerTLS?
    /// Who is believed about where a request came from.
    package let trustedProxies: TrustedProxies
    /// Whether clients of gRPC may ask what there is to call.
    package let reflection: Bool

    package init(
        address: ListenerAddress, group: String? = nil, allowsEverybody: Bool = false,
        maximumConnections: Int = ConfigurationDefaults.Listeners.maximumConnections.default,
        maximumRequests: Int? = ConfigurationDefaults.Listeners.maximumRequests.default,
        maximumHeaderBytes: Int = ConfigurationDefaults.Listeners.maximumHeaderBytes.default,
        maximumBodyBytes: Int = ConfigurationDefaults.Listeners.maximumBodyBytes.default,
        idleTimeout: Duration = ConfigurationDefaults.Listeners.idleTimeout.default, tls: ListenerTLS? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(),
        reflection: Bool = ConfigurationDefaults.Listeners.reflection
    ) {
        self.address = address
        self.group = group
        self.allowsEverybody = allowsEverybody
        self.maximumConnections = maximumConnections
        self.maximumRequests = maximumRequests
        self.maximumHeaderBytes = maximumHeaderBytes
        self.maximumBodyBytes = maximumBodyBytes
        self.idleTimeout = idleTimeout
        self.tls = tls
        self.trustedProxies = trustedProxies
        self.reflection = reflection
    }
}

extension ConfigurationParser {
    /// Reads `listeners`.
    mutating func listenersSection() -> ListenersConfiguration {
        typealias Defaults = ConfigurationDefaults.Listeners
        let listeners = ListenersConfiguration(
            api: listener(
                "api", default: Defaults.api, maximumBodyBytes: Defaults.apiMaximumBodyBytes),
            grpc: listener("grpc", default: Defaults.grpc, maximumBodyBytes: Defaults.apiMaximumBodyBytes),
            webhook: listener("webhook", default: Defaults.webhook),
            admin: operators("admin", default: Defaults.admin),
            grpcAdmin: operators("grpcAdmin", default: Defaults.grpcAdmin),
            health: listener("health", default: Defaults.health, facesCallers: false),
            appleProduction: door("appleProduction"), appleSandbox: door("appleSandbox"))
        checkExposure(of: listeners.api, "api", because: "callers' tokens would cross the network in clear text")
        for (name, proxy) in [
            ("grpc", listeners.grpc), ("appleProduction", listeners.appleProduction),
            ("appleSandbox", listeners.appleSandbox),
        ] {
            checkExposure(of: proxy, name, because: "callers' tokens would cross the network in clear text")
        }
        checkAddressesDiffer(listeners.all.map { ($0.name, $0.settings.address) })
        if listeners.all.isEmpty {
            report(
                place(of: ["listeners"]), key: "listeners", "Every listener is switched off; nothing could be reached.")
        }
        return listeners
    }

    /// The listeners that ask for no credential, whose Unix socket must not be open to everybody.
    static let operatorListeners = ["admin", "grpcAdmin"]

    /// Reads a listener of the operators', which nothing guards but the permissions of its socket's file.
    private mutating func operators(_ name: String, default choice: ListenerChoice) -> ListenerSettings? {
        let settings = listener(name, default: choice, facesCallers: false)
        if let settings, !settings.address.isUnix {
            report(
                place(of: ["listeners", name, "address"]), key: "listeners.\(name).address",
                """
                Operators come over a Unix socket only, whose peers the kernel names; a TCP address is no longer taken. Write \
                `address: "unix:/run/purser/\(name).sock"` or leave the key out; on another machine, run `purser` there \
                (`ssh HOST purser …`). docs/operations.md#update tells more.
                """)
        }
        if let settings, case .unix(_, let mode) = settings.address, mode & 0o007 != 0, !settings.allowsEverybody {
            report(
                place(of: ["listeners", name, "mode"]), key: "listeners.\(name).mode",
                """
                This mode lets every user of the machine use the socket, and do everything that an operator can. Write \
                `mode: "0660"` and name a `group`, or confirm it with `allowEverybody: true`. docs/operations.md#who-may-operate
                """)
        }
        for key in ["certificateChain", "privateKey", "clientCertificateAuthorities", "clientCertificates"]
        where isGiven(["listeners", name, "tls", key]) {
            report(
                place(of: ["listeners", name, "tls", key]), key: "listeners.\(name).tls.\(key)",
                "Operators come over a Unix socket only, which has no TLS; leave `tls` out. docs/operations.md#update"
            )
        }
        return settings
    }

    /// Reads an Apple-compatible door.
    private mutating func door(_ name: String) -> ListenerSettings? {
        listener(
            name, default: ConfigurationDefaults.Listeners.appleProxy,
            maximumBodyBytes: ConfigurationDefaults.Listeners.appleProxyMaximumBodyBytes)
    }

    private mutating func listener(
        _ name: String, default defaultChoice: ListenerChoice,
        maximumBodyBytes: BoundedSetting<Int> = ConfigurationDefaults.Listeners.maximumBodyBytes,
        facesCallers: Bool = true
    ) -> ListenerSettings? {
        typealias Defaults = ConfigurationDefaults.Listeners
        let path = ["listeners", name]
        let mode = setting(path + ["mode"], as: .socketMode)
        let group = setting(path + ["group"], as: .socketGroup)
        let allowsEverybody =
            Self.operatorListeners.contains(name)
            ? setting(path + ["allowEverybody"], as: .bool, default: Defaults.allowEverybody) : Defaults.allowEverybody
        let choice = setting(path + ["address"], as: .listenerAddress, default: defaultChoice)
        // An address that is of no use: what a listener that is off says besides is read all the same.
        let nowhere = ListenerAddress.tcp(host: "127.0.0.1", port: 0)
        func listener(at address: ListenerAddress) -> ListenerSettings {
            ListenerSettings(
                address: address, group: group, allowsEverybody: allowsEverybody,
                maximumConnections: setting(path + ["maximumConnections"], Defaults.maximumConnections),
                maximumRequests: facesCallers ? setting(path + ["maximumRequests"], Defaults.maximumRequests) : nil,
                maximumHeaderBytes: setting(path + ["maximumHeaderBytes"], Defaults.maximumHeaderBytes),
                maximumBodyBytes: setting(path + ["maximumBodyBytes"], maximumBodyBytes),
                idleTimeout: setting(path + ["idleTimeout"], Defaults.idleTimeout), tls: tls(name),
                trustedProxies: facesCallers ? trustedProxies(name) : TrustedProxies(),
                reflection: name == "grpc"
                    ? setting(path + ["reflection"], as: .bool, default: Defaults.reflection) : Defaults.reflection)
        }
        switch choice {
        case .none:
            _ = listener(at: nowhere)
            return nil
        case .at(.unix(let path, let defaultMode)):
            return listener(at: .unix(path: path, mode: mode ?? defaultMode))
        case .at(let address):
            for (key, isGiven) in [("mode", mode != nil), ("group", group != nil)] where isGiven {
                report(
                    place(of: path + [key]), key: "listeners.\(name).\(key)",
                    "Only a Unix socket has a \(key); this listener has a TCP address.")
            }
            return listener(at: address)
        }
    }

    /// Reads the networks of a listener's proxies, which only the file can say.
    private mutating func trustedProxies(_ name: String) -> TrustedProxies {
        guard let listeners = member("listeners", of: root), let listener = member(name, of: listeners) else {
            return TrustedProxies()
        }
        return TrustedProxies(values("trustedProxies", of: listener, as: .network).map(\.value))
    }

    /// Reports a TCP address that other machines can reach.
    private mutating func checkExposure(of listener: ListenerSettings?, _ name: String, because reason: String) {
        guard let listener, !listener.address.isLocal, listener.tls == nil else { return }
        report(
            place(of: ["listeners", name, "address"]), key: "listeners.\(name).address",
            """
            This listener may only have a loopback address (`127.0.0.1`, `[::1]`) or a Unix socket, \
            because \(reason); give it a `tls` certificate, or put a TLS proxy on this machine in front of it.
            """)
    }

    private mutating func checkAddressesDiffer(_ listeners: [(name: String, address: ListenerAddress)]) {
        for (index, later) in listeners.enumerated() {
            // Port 0 asks the kernel for a free one, so it never collides.
            if case .tcp(_, port: 0) = later.address { continue }
            guard let earlier = listeners[..<index].first(where: { $0.address == later.address }) else { continue }
            report(
                place(of: ["listeners", later.name, "address"]), key: "listeners.\(later.name).address",
                "The listener `\(earlier.name)` has the same address.")
        }
    }
}

/// The `address` of a listener: somewhere, or nowhere.
enum ListenerChoice: Equatable {
    /// Switched off.
    case none
    case at(ListenerAddress)
}

extension ConfigurationValue<ListenerChoice> {
    static var listenerAddress: Self {
        Self(
            expectation: "`127.0.0.1:8080`, `[::1]:8080`, `unix:/absolute/path` or the like, or `none` for no listener"
        ) { text in
            if text == "none" { return ListenerChoice.none }
            return (try? ListenerAddress(text)).map(ListenerChoice.at)
        }
    }
}

extension ConfigurationValue<TrustedProxies.Network> {
    /// A network in CIDR notation.
    static var network: Self {
        Self(
            expectation: "an address or a network such as `10.0.0.0/8` or `fd00::/8`, with nothing behind its prefix",
            parse: TrustedProxies.Network.init)
    }
}

extension ConfigurationValue<String> {
    /// A group of the machine's.
    static var socketGroup: Self {
        Self(expectation: "the name of a group: 1 to 32 of `a`–`z`, `0`–`9`, `_`, `.` and `-`, or its number") { text in
            let isName =
                (1...32).contains(text.utf8.count) && text.first != "-"
                && text.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "_.-".utf8.contains($0)
                }
            return isName ? text : nil
        }
    }
}

extension ConfigurationValue<UInt16> {
    /// The permissions of a Unix socket.
    static var socketMode: Self {
        Self(expectation: "three or four octal digits in quotes, such as \"0660\"") { text in
            guard (3...4).contains(text.count), let mode = UInt16(text, radix: 8), mode <= 0o777 else { return nil }
            return mode
        }
    }
}
