import Foundation
package import Logging

/// Who may call, and by what they prove it.
package struct Access: Sendable {
    /// Every caller, in memory.
    package let registry: CallerRegistry
    /// Finds the caller of a request.
    package let resolver: CallerResolver
    /// Tells whoever keeps failing to wait, at all listeners together.
    package let failedAttempts: FailedAttempts
    /// Tells the audit of failures to authenticate.
    package let failures: AuthenticationFailures
    /// Adds, changes and removes callers.
    package let administration: CallerAdministration
    /// Issues and revokes callers' keys.
    package let keys: CallerKeyService
    /// Tells of callers that need a look.
    package let report: CallerReport
    private let store: any CallerStore
    private let clock: ServiceClock
    private let logger: Logger

    /// What callers prove themselves by, and how it is made and read.
    package struct Credentials: Sendable {
        /// This installation's, which every caller's JWT must name: a UUID.
        package var issuerID: String
        /// SHA-256; what cannot be computed is empty and matches nothing.
        package var digest: @Sendable ([UInt8]) -> [UInt8]
        /// Draws a bearer token.
        package var makeToken: @Sendable () throws -> OpaqueToken
        /// Makes the id of a caller's key.
        package var makeKeyID: @Sendable () -> String
        /// Turns PEM into the DER of a SubjectPublicKeyInfo; nil for what is no public key on P-256.
        package var decodePublicKey: @Sendable (String) -> [UInt8]?
        /// Takes a JWT apart; nil for what is none of algorithm ES256.
        package var readToken: @Sendable (String) -> CallerToken?

        package init(
            issuerID: String, digest: @escaping @Sendable ([UInt8]) -> [UInt8],
            makeToken: @escaping @Sendable () throws -> OpaqueToken,
            makeKeyID: @escaping @Sendable () -> String = CallerKey.randomID,
            decodePublicKey: @escaping @Sendable (String) -> [UInt8]?,
            readToken: @escaping @Sendable (String) -> CallerToken?
        ) {
            self.issuerID = issuerID
            self.digest = digest
            self.makeToken = makeToken
            self.makeKeyID = makeKeyID
            self.decodePublicKey = decodePublicKey
            self.readToken = readToken
        }
    }

    package struct Ports: Sendable {
        package var store: any CallerStore
        package var credentials: Credentials
        /// Is told how many callers share the budgets of each app.
        package var budgets: RateBudgets
        package var audit: any AuditTrail
        package var clock: ServiceClock
        package var logger: Logger
    }

    init(_ ports: Ports, copies: LivingCopies, settings: CurrentSettings) {
        let (credentials, now, budgets) = (ports.credentials, ports.clock.now, ports.budgets)
        let policy: @Sendable () -> CallerPolicy = { settings.read { $0.callerPolicy } }
        let registry = CallerRegistry(configured: settings.value.callers, now: now) { budgets.share(among: $0) }
        self.registry = registry
        store = ports.store
        clock = ports.clock
        logger = ports.logger
        failures = AuthenticationFailures(audit: ports.audit)
        failedAttempts = FailedAttempts(records: failures, copies: copies, now: ports.clock.monotonicNow)
        resolver = CallerResolver(
            registry: registry,
            tokens: CallerTokenChecker(
                issuerID: credentials.issuerID, registry: registry, apps: settings.apps, now: now,
                read: credentials.readToken),
            digest: credentials.digest, now: now)
        administration = CallerAdministration(
            store: ports.store, registry: registry, apps: settings.apps, policy: policy,
            audit: ports.audit, makeToken: credentials.makeToken, digest: credentials.digest, now: now,
            logger: ports.logger)
        keys = CallerKeyService(
            issuerID: credentials.issuerID, store: ports.store, registry: registry, apps: settings.apps,
            audit: ports.audit, now: now, makeKeyID: credentials.makeKeyID,
            decodePublicKey: credentials.decodePublicKey, logger: ports.logger)
        report = CallerReport(registry: registry, apps: settings.apps, policy: policy, now: now)
    }

    /// Takes up what the store knows of callers: before anybody can ask.
    ///
    /// - Throws: `storeUnavailable`.
    package func load() async throws(ServiceError) {
        try await registry.refresh(from: store)
        try await registry.resumeUses(from: store)
    }

    /// Keeps the registry up with the store, until the task is cancelled.
    func run() async {
        var isWell = true
        while (try? await clock.sleep(CallerRegistry.refreshInterval)) != nil {
            do throws(ServiceError) {
                try await registry.refresh(from: store)
                isWell = true
            } catch {
                // Nobody else can change this store while we have it: what is known of callers stays right meanwhile.
                if isWell, !Task.isCancelled { tell("Callers cannot be kept up to date", error) }
                isWell = false
            }
        }
    }

    /// Keeps when callers were last here, and counts them anew, as tokens expire: to be called each minute, and at the end.
    package func keepUses() async {
        registry.count()
        do throws(ServiceError) {
            try await registry.saveUses(to: store)
        } catch {
            tell("When callers were last here cannot be kept", error)
        }
    }

    private func tell(_ message: Logger.Message, _ error: ServiceError) {
        logger.tell(message, error)
    }
}
