package import Domain

/// Where callbacks may post, and how.
package struct CallbacksConfiguration: Sendable, Equatable {
    package let policy: CallbackPolicy
    /// The authorities that receivers' certificates must lead to, in place of the system's.
    package let certificateAuthorityFile: String?

    package init(policy: CallbackPolicy = CallbackPolicy(), certificateAuthorityFile: String? = nil) {
        self.policy = policy
        self.certificateAuthorityFile = certificateAuthorityFile
    }
}

extension ConfigurationParser {
    /// Reads `callbacks`.
    mutating func callbacksSection() -> CallbacksConfiguration {
        var policy = CallbackPolicy()
        policy.timeout = setting(["callbacks", "timeout"], ConfigurationDefaults.Callbacks.timeout)
        let authorities = setting(["callbacks", "certificateAuthorityFile"], as: .absolutePath)
        if let section = member("callbacks", of: root), isTable(section) {
            policy.allowedHosts = values("allowedHosts", of: section, as: .callbackHost).map(\.value)
            policy.allowedNetworks = values("allowedNetworks", of: section, as: .network).map(\.value)
        }
        return CallbacksConfiguration(policy: policy, certificateAuthorityFile: authorities)
    }
}

extension ConfigurationValue<String> {
    /// A host that callbacks may post to, in lower case.
    static var callbackHost: Self {
        Self(expectation: "a host such as `hooks.example.com`, `*.example.com` for all below one, or `*` for any") {
            text in
            let host = text.lowercased()
            if host == "*" { return host }
            let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : host
            guard let url = CallbackURL("https://\(name.contains(":") ? "[\(name)]" : name)"), url.host == name else {
                return nil
            }
            return host
        }
    }
}
