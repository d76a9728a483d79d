package import Domain

/// An internal service that may call the API, and how it proves who it is.
package struct CallerConfiguration: Sendable, Equatable {
    package let caller: Caller
    /// The SHA-256 digest (32 bytes) of its bearer token.
    package let tokenDigest: [UInt8]
    /// How many calls to Apple it may cause about one app in any hour; nil for as many as its share of Apple's limits.
    package let callsPerHour: Int?

    package init(caller: Caller, tokenDigest: [UInt8], callsPerHour: Int? = nil) {
        self.caller = caller
        self.tokenDigest = tokenDigest
        self.callsPerHour = callsPerHour
    }
}

extension ConfigurationParser {
    /// Reads `callers`, and holds their scopes against the apps.
    mutating func callersSection(apps: AppEntries) -> [CallerConfiguration] {
        var callers: [CallerConfiguration] = []
        let entries = entries("callers", of: root, named: .slug)
        if entries.isEmpty {
            warn(
                place(of: ["callers"]), key: "callers",
                "No caller is configured; every call of `/v1` is answered with 401.")
        }
        var owners: [[UInt8]: String] = [:]
        for entry in entries where isTable(entry.value) {
            let digest = requiredValue("tokenSHA256", of: entry.value, as: .tokenDigest)
            if let digest, let element = member("tokenSHA256", of: entry.value) {
                if let owner = owners[digest] {
                    report(element.origin, key: element.key, "The caller `\(owner)` has the same token.")
                }
                owners[digest] = owners[digest] ?? entry.name
            }
            let scopes = scopes(entry.value, apps: apps)
            let callsPerHour = value(
                "callsPerHour", of: entry.value, as: .count(ConfigurationDefaults.Callers.callsPerHour))
            guard let digest else { continue }
            callers.append(
                CallerConfiguration(
                    caller: Caller(name: entry.name, scopes: scopes), tokenDigest: digest, callsPerHour: callsPerHour))
        }
        return callers
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
