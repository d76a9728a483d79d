/// A way to sign a transaction that no client may accept.
package enum Tampering: String, Sendable, Hashable, CaseIterable {
    /// The leaf had expired a year before the signing date.
    case expiredCertificate
    /// The chain is sound but ends in another root, which it brings along.
    case foreignRoot
    /// The leaf lacks Apple's marker extension.
    case missingLeafExtension
    /// The intermediate lacks Apple's marker extension.
    case missingIntermediateExtension
    /// One bit of the signature is turned.
    case wrongSignature
    /// The transaction names another app.
    case wrongBundleId
    /// The transaction names the other environment.
    case wrongEnvironment
}
