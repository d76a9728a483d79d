import Listener

extension ConfigurationParser {
    /// Reads the `tls` block of a listener: both files or none, and whose certificates its clients show.
    mutating func tls(_ name: String) -> ListenerTLS? {
        let path = ["listeners", name, "tls"]
        let chain = setting(path + ["certificateChain"], as: .absolutePath)
        let key = setting(path + ["privateKey"], as: .absolutePath)
        let clients = clientCertificates(name)
        for (given, missing) in [
            ("certificateChain", "privateKey"), ("privateKey", "certificateChain"),
            ("clientCertificateAuthorities", "certificateChain"),
        ] where isGiven(path + [given]) && !isGiven(path + [missing]) {
            report(
                place(of: path + [given]), key: "listeners.\(name).tls.\(missing)",
                "This key is required where `\(given)` is given.")
        }
        guard let chain, let key else { return nil }
        return ListenerTLS(
            certificateChainFile: chain, privateKeyFile: key, clientCertificates: clients,
            applicationProtocol: name == "grpc" ? "h2" : "http/1.1")
    }

    /// What clients have to show; without authorities they are asked for nothing.
    private mutating func clientCertificates(_ name: String) -> ListenerTLS.ClientCertificates? {
        let path = ["listeners", name, "tls"]
        let authorities = setting(path + ["clientCertificateAuthorities"], as: .absolutePath)
        let demand = setting(path + ["clientCertificates"], as: ConfigurationValue<ClientCertificateDemand>.oneOf)
        if isGiven(path + ["clientCertificates"]), !isGiven(path + ["clientCertificateAuthorities"]) {
            report(
                place(of: path + ["clientCertificates"]), key: "listeners.\(name).tls.clientCertificateAuthorities",
                "This key is required where `clientCertificates` is given.")
        }
        return authorities.map { file in
            ListenerTLS.ClientCertificates(
                authoritiesFile: file,
                isRequired: (demand ?? ConfigurationDefaults.Listeners.clientCertificates) == .required)
        }
    }
}

/// `listeners.….tls.clientCertificates`: what happens to clients without a certificate.
enum ClientCertificateDemand: String, CaseIterable {
    /// They are refused.
    case required
    /// They may prove who they are by their requests.
    case optional
}
