package import Domain

/// An internal service that may call the API, and how it proves who it is.
package struct CallerConfiguration: Sendable, Equatable {
    package let configured: ConfiguredCaller
    /// How many calls to Apple it may cause about one app in any hour; nil for as many as its share of Apple's limits.
    package let callsPerHour: Int?

    package var caller: Caller { configured.caller }

    package init(_ configured: ConfiguredCaller, callsPerHour: Int? = nil) {
        self.configured = configured
        self.callsPerHour = callsPerHour
    }

    /// A caller with one bearer token, by the SHA-256 digest (32 bytes) of it.
    package init(caller: Caller, tokenDigest: [UInt8], callsPerHour: Int? = nil) {
        self.init(ConfiguredCaller(caller, tokenDigests: [tokenDigest]), callsPerHour: callsPerHour)
    }
}

extension ConfigurationParser {
    /// Reads `callers`, and holds their scopes against the apps.
    mutating func callersSection(apps: AppEntries) -> [CallerConfiguration] {
        var callers: [CallerConfiguration] = []
        let entries = entries("callers", of: root, named: .slug)
        var owners: [CallerProof: String] = [:]
        for entry in entries where isTable(entry.value) {
            let digests = tokenDigests(entry, owners: &owners)
            let bindings = bindings(entry, owners: &owners)
            if digests?.isEmpty == true, bindings?.isEmpty == true {
                report(
                    entry.value.origin, key: entry.value.key(of: "tokenSHA256"),
                    "The caller has nothing to prove itself by; give `tokenSHA256`, `clientCertificates`, `uids` or `gids`."
                )
            }
            let scopes = scopes(entry.value, apps: apps)
            let callsPerHour = value(
                "callsPerHour", of: entry.value, as: .count(ConfigurationDefaults.Callers.callsPerHour))
            guard let digests, let bindings else { continue }
            callers.append(
                CallerConfiguration(
                    ConfiguredCaller(
                        Caller(name: entry.name, scopes: scopes), tokenDigests: digests, bindings: bindings),
                    callsPerHour: callsPerHour))
        }
        return callers
    }

    /// Reads `access`.
    mutating func accessSection() -> CallerPolicy {
        var policy = CallerPolicy()
        policy.rotationGrace = setting(["access", "rotationGrace"], ConfigurationDefaults.Access.rotationGrace)
        policy.expiryWarning = setting(["access", "expiryWarning"], ConfigurationDefaults.Access.expiryWarning)
        policy.unusedWarning = setting(["access", "unusedWarning"], ConfigurationDefaults.Access.unusedWarning)
        return policy
    }

    /// What can prove one caller only.
    private enum CallerProof: Hashable {
        case token([UInt8])
        case binding(CallerBinding)
    }

    /// `tokenSHA256`: one digest, or a list of two during a rotation; nil after a problem was reported.
    private mutating func tokenDigests(
        _ entry: ConfigurationElement.Member, owners: inout [CallerProof: String]
    ) -> [[UInt8]]? {
        guard let element = member("tokenSHA256", of: entry.value) else { return [] }
        var given: [(value: [UInt8], element: ConfigurationElement)] = []
        let count = problems.count
        if case .list(let elements) = element.content {
            given = values("tokenSHA256", of: entry.value, as: .tokenDigest)
            if elements.isEmpty || elements.count > ConfigurationDefaults.Callers.maximumTokens {
                report(
                    element.origin, key: element.key,
                    "A caller has one token, or during a rotation \(ConfigurationDefaults.Callers.maximumTokens).")
            }
        } else if let digest = value("tokenSHA256", of: entry.value, as: .tokenDigest) {
            given = [(digest, element)]
        }
        for (digest, element) in given {
            claim(.token(digest), for: entry.name, at: element, "token", owners: &owners)
        }
        return problems.count == count ? given.map(\.value) : nil
    }

    /// `clientCertificates`, `uids` and `gids`; nil after a problem was reported.
    private mutating func bindings(
        _ entry: ConfigurationElement.Member, owners: inout [CallerProof: String]
    ) -> Set<CallerBinding>? {
        let count = problems.count
        let given =
            values("clientCertificates", of: entry.value, as: .binding(.certificate))
            + values("uids", of: entry.value, as: .binding(.uid))
            + values("gids", of: entry.value, as: .binding(.gid))
        for (binding, element) in given {
            let what = binding.kind == .certificate ? "certificate" : binding.kind == .uid ? "user" : "group"
            claim(.binding(binding), for: entry.name, at: element, what, owners: &owners)
        }
        return problems.count == count ? Set(given.map(\.value)) : nil
    }

    private mutating func claim(
        _ proof: CallerProof, for name: String, at element: ConfigurationElement, _ what: String,
        owners: inout [CallerProof: String]
    ) {
        if let owner = owners[proof] {
            report(element.origin, key: element.key, "The caller `\(QuotableText.name(owner))` has the same \(what).")
        }
        owners[proof] = owners[proof] ?? name
    }

    private mutating func scopes(_ caller: ConfigurationElement, apps: AppEntries) -> [String: Set<Scope>] {
        guard member("scopes", of: caller) != nil else {
            report(
                caller.origin, key: caller.key(of: "scopes"),
                "This key is required; it must be a table of apps, each with the list of the caller's scopes.")
            return [:]
        }
        var scopes: [String: Set<Scope>] = [:]
        guard let table = member("scopes", of: caller) else { return [:] }
        for entry in entries("scopes", of: caller, named: .slug) {
            let granted = values(entry.name, of: table, as: ConfigurationValue<Scope>.oneOf).map(\.value)
            if isKnown(entry.name, at: entry.origin, key: entry.value.key, apps: apps) {
                scopes[entry.name] = Set(granted)
            }
        }
        return scopes
    }
}
