package import Logging

/// Who may call, and by what they prove it.
package struct Access: Sendable {
    /// Callers by bearer token.
    package let directory: CallerDirectory
    /// Issues, lists and revokes callers' keys.
    package let keys: CallerKeyService
    /// Checks the JWTs that callers sign with them.
    package let tokens: CallerTokenChecker

    /// What callers prove themselves by, and how it is read.
    package struct Credentials: Sendable {
        /// This installation's, which every caller's JWT must name: a UUID.
        package var issuerID: String
        /// The bearer tokens of the configuration.
        package var bearerTokens: [CallerDirectory.Credential]
        /// SHA-256; what cannot be computed is empty and matches nothing.
        package var digest: @Sendable ([UInt8]) -> [UInt8]
        /// Makes the id of a caller's key.
        package var makeKeyID: @Sendable () -> String
        /// Turns PEM into the DER of a SubjectPublicKeyInfo; nil for what is no public key on P-256.
        package var decodePublicKey: @Sendable (String) -> [UInt8]?
        /// Takes a JWT apart; nil for what is none of algorithm ES256.
        package var readToken: @Sendable (String) -> CallerToken?

        package init(
            issuerID: String, bearerTokens: [CallerDirectory.Credential],
            digest: @escaping @Sendable ([UInt8]) -> [UInt8],
            makeKeyID: @escaping @Sendable () -> String = CallerKey.randomID,
            decodePublicKey: @escaping @Sendable (String) -> [UInt8]?,
            readToken: @escaping @Sendable (String) -> CallerToken?
        ) {
            self.issuerID = issuerID
            self.bearerTokens = bearerTokens
            self.digest = digest
            self.makeKeyID = makeKeyID
            self.decodePublicKey = decodePublicKey
            self.readToken = readToken
        }
    }

    package struct Ports: Sendable {
        package var store: any CallerKeyStore
        package var credentials: Credentials
        package var clock: ServiceClock
        package var logger: Logger
    }

    init(_ ports: Ports, settings: Services.Settings) {
        let (credentials, now) = (ports.credentials, ports.clock.now)
        let register = CallerRegister(configured: settings.callers)
        directory = CallerDirectory(credentials: credentials.bearerTokens, digest: credentials.digest)
        keys = CallerKeyService(
            issuerID: credentials.issuerID, store: ports.store, register: register, apps: settings.apps, now: now,
            makeKeyID: credentials.makeKeyID, decodePublicKey: credentials.decodePublicKey, logger: ports.logger)
        tokens = CallerTokenChecker(
            issuerID: credentials.issuerID, store: ports.store, register: register, apps: settings.apps, now: now,
            read: credentials.readToken)
    }
}
