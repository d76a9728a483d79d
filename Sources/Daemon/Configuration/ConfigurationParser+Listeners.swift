import Listener

extension ConfigurationParser {
    /// Reads `listeners`.
    mutating func listenersSection() -> ListenersConfiguration {
        let listeners = ListenersConfiguration(
            api: listener("api", default: .at(.tcp(host: "127.0.0.1", port: 8080))),
            webhook: listener("webhook", default: .at(.tcp(host: "127.0.0.1", port: 8081))),
            // Whoever asks how the daemon is must hear it above all when it is busy.
            admin: listener(
                "admin", default: .at(.unix(path: "/run/purser/admin.sock", mode: 0o600)), boundsRequests: false),
            health: listener("health", default: .at(.tcp(host: "127.0.0.1", port: 9090)), boundsRequests: false),
            appleProduction: door("appleProduction"), appleSandbox: door("appleSandbox"))
        checkExposure(of: listeners.api, "api", because: "callers' tokens would cross the network in clear text")
        checkExposure(of: listeners.admin, "admin", because: "it asks for no credential")
        for (name, door) in [
            ("appleProduction", listeners.appleProduction), ("appleSandbox", listeners.appleSandbox),
        ] {
            checkExposure(of: door, name, because: "callers' tokens would cross the network in clear text")
        }
        checkAddressesDiffer(listeners.all.map { ($0.name, $0.settings.address) })
        if listeners.all.isEmpty {
            report(
                place(of: ["listeners"]), key: "listeners", "Every listener is switched off; nothing could be reached.")
        }
        return listeners
    }

    /// Reads an Apple-compatible door: off unless it has an address, and wide enough for an image.
    private mutating func door(_ name: String) -> ListenerSettings? {
        listener(name, default: .none, defaultMaximumBodyBytes: 10 << 20)
    }

    private mutating func listener(
        _ name: String, default defaultChoice: ListenerChoice,
        defaultMaximumBodyBytes: Int = ListenerSettings.defaultMaximumBodyBytes, boundsRequests: Bool = true
    ) -> ListenerSettings? {
        let path = ["listeners", name]
        let mode = setting(path + ["mode"], as: .socketMode)
        let choice = setting(path + ["address"], as: .listenerAddress, default: defaultChoice)
        // An address that is of no use: what a listener that is off says besides is read all the same.
        let nowhere = ListenerAddress.tcp(host: "127.0.0.1", port: 0)
        let defaults = ListenerSettings(address: nowhere, maximumBodyBytes: defaultMaximumBodyBytes)
        func listener(at address: ListenerAddress) -> ListenerSettings {
            ListenerSettings(
                address: address,
                maximumConnections: setting(
                    path + ["maximumConnections"], as: .count(1...100_000), default: defaults.maximumConnections),
                maximumRequests: boundsRequests
                    ? setting(
                        path + ["maximumRequests"], as: .count(1...100_000),
                        default: ListenerSettings.defaultMaximumRequests) : nil,
                maximumHeaderBytes: setting(
                    path + ["maximumHeaderBytes"], as: .bytes(1 << 10...1 << 20), default: defaults.maximumHeaderBytes),
                maximumBodyBytes: setting(
                    path + ["maximumBodyBytes"], as: .bytes(1 << 10...1 << 26), default: defaults.maximumBodyBytes),
                idleTimeout: setting(
                    path + ["idleTimeout"], as: .duration(.seconds(1) ... .seconds(3600)),
                    default: defaults.idleTimeout),
                tls: tls(name))
        }
        switch choice {
        case .none:
            _ = listener(at: nowhere)
            return nil
        case .at(.unix(let path, let defaultMode)):
            return listener(at: .unix(path: path, mode: mode ?? defaultMode))
        case .at(let address):
            if mode != nil {
                report(
                    place(of: path + ["mode"]), key: "listeners.\(name).mode",
                    "Only a Unix socket has a mode; this listener has a TCP address.")
            }
            return listener(at: address)
        }
    }

    /// Reads the `tls` block of a listener: both files or none.
    private mutating func tls(_ name: String) -> ListenerTLS? {
        let path = ["listeners", name, "tls"]
        let chain = setting(path + ["certificateChain"], as: .absolutePath)
        let key = setting(path + ["privateKey"], as: .absolutePath)
        for (given, missing) in [("certificateChain", "privateKey"), ("privateKey", "certificateChain")]
        where isGiven(path + [given]) && !isGiven(path + [missing]) {
            report(
                place(of: path + [given]), key: "listeners.\(name).tls.\(missing)",
                "This key is required where `\(given)` is given.")
        }
        guard let chain, let key else { return nil }
        return ListenerTLS(certificateChainFile: chain, privateKeyFile: key)
    }

    /// Reports a TCP address that other machines can reach.
    private mutating func checkExposure(of listener: ListenerSettings?, _ name: String, because reason: String) {
        guard let listener, !listener.address.isLocal, listener.tls == nil || name == "admin" else { return }
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
