import AppStoreClient
import AuditLog
import CallbackClient
import Curl
import Domain
import Foundation
import HTTPAPI
import JOSE
import JSON
import KeyCustody
import Logging
import OpenSSL
import StorePostgres
import StoreSQL
import StoreSQLite
import Systemd
import TraceContext

/// The adapters of a daemon, each built once: what the ports of `Services` are made of, and what runs beside them.
///
/// With `makeDaemon`, the only place that names a concrete adapter.
struct Adapters: Sendable {
    /// Names this copy of the daemon for as long as its process runs.
    let copyID = UUID().uuidString.lowercased()
    let metrics: PrometheusRegistry
    /// Opens what the store keeps sealed; made before it, so that opening the store can use it.
    let vault: SecretVault
    let keys: KeyRing
    let store: any SQLStore
    let audit: AuditWriter
    let curl: CurlClient
    /// The one of callbacks.
    let callbackCurl: CurlClient
    let client: AppStoreClient
    let minter: TokenMinter
    let budgets: RateBudgets
    let checkpoint: BudgetCheckpoint
    let custodian: KeyCustodian
    let ports: Services.Ports

    /// Loads keys, opens and migrates the store, and takes up what is used of the budgets.
    ///
    /// `settings`: what of the configuration may be another after a reload.
    ///
    /// - Throws: what an adapter says of why it cannot start.
    init(
        _ configuration: DaemonConfiguration, _ settings: CurrentSettings, _ dependencies: Dependencies
    ) async throws {
        let logger = dependencies.logger
        let clock = dependencies.now.map { ServiceClock(now: $0) } ?? ServiceClock(SteadyClock(logger: logger))
        let metrics = PrometheusRegistry(help: MetricsHelp.texts)
        let masterKey = try await MasterKeyStart(
            configuration, accepting: dependencies.acceptedMasterKeyLosses, logger)
        vault = masterKey.vault
        keys = try KeyRing(loading: configuration.keys)
        let roots = try rootCertificates(configuration.apple.rootCertificateFiles)
        if let path = configuration.apple.certificateAuthorityFile { try checkAuthorities(path, "apple") }
        if let path = configuration.callbacks.certificateAuthorityFile { try checkAuthorities(path, "callbacks") }
        let verifier = SignedDataVerifier(roots: roots, now: clock.now)
        let secrets = InstallationSecretSealer(
            vault: vault, acceptedLosses: Set(masterKey.acceptedLosses.keys), now: clock.now)
        store = try await openStore(
            configuration.store, configuration.apps, secrets, StoreTimers(metrics).time, dependencies)
        tell(store.secrets.states, logger)
        let auditSettings = AuditWriter.Settings(configuration.audit)
        let auditKeys = SealedAuditKeys(directory: auditSettings.directory, vault: vault)
        audit = try AuditWriter(
            auditSettings, keys: auditKeys, pseudonyms: store, now: clock.now, metrics: metrics, logger: logger)
        for (masterKeyID, names) in masterKey.acceptedLosses.sorted(by: { $0.key < $1.key }) {
            await recordLoss(of: masterKeyID, names, audit, vault, logger)
        }
        curl = try CurlClient(configuration: .init(configuration.apple))
        callbackCurl = try CurlClient(configuration: .init(configuration.callbacks) { settings.read { $0.callbacks } })
        let turn: MintTurn = { [store, copyID] keyID, duration in
            // Without the store nothing is sent either.
            (try? await store.takeLease("mint \(keyID)", by: copyID, for: duration, at: clock.now())) ?? false
        }
        minter = TokenMinter(
            keys: keys, clock: clock, audit: audit, turn: store.isShared ? turn : nil, metrics: metrics, logger: logger)
        budgets = RateBudgets(
            policy: RatePolicy(configuration), clock: BudgetClock(now: clock.now),
            slices: store.isShared ? BudgetSlices(copy: copyID, store: store) : nil)
        checkpoint = BudgetCheckpoint(
            budgets: budgets, store: store, sharedStore: store, isCertain: { clock.isCertain })
        try await checkpoint.restore()
        let meter = UpstreamMeter(factory: metrics)
        let tracing = TraceScope(tracer: dependencies.tracer)
        client = AppStoreClient(
            configuration: UpstreamConfiguration(configuration.apple), client: curl, tokens: minter,
            budget: MeteredBudget(budgets, metrics: metrics), verifier: verifier, memory: store,
            releases: store, answers: store, clock: clock, meter: meter, tracing: tracing, logger: logger)
        custodian = KeyCustodian(
            ring: keys, vault: vault, store: store, minter: minter, probe: client, audit: audit,
            settings: KeyCustodian.Settings(
                apps: settings.apps, directories: configuration.keyDirectories,
                warnings: configuration.keyWarnings, sealedFiles: auditKeys.files),
            clock: clock, metrics: metrics, logger: logger)
        try await custodian.start()
        ports = Services.Ports(
            store: store, changes: store.changes, appStore: client, keys: custodian,
            signatures: StoreKitSigner(keys: keys, clock: clock, metrics: metrics), tokens: minter, audit: audit,
            verifier: MeteredNotificationVerifier(
                NotificationAuthenticator(verifier: verifier, meter: meter), metrics: metrics),
            signedData: SignedDataAuthenticator(verifier: verifier, meter: meter),
            receiptReader: ReceiptAuthenticator(roots: roots, acceptsSHA1: configuration.receipts.acceptSHA1),
            budgets: budgets, pageTokens: PageTokenCoder(store: store),
            credentials: try await Access.Credentials(store: store),
            callbacks: CallbackDelivery(
                transport: CallbackClient(
                    client: callbackCurl, timeout: { settings.read { $0.callbacks.timeout } }, now: clock.now,
                    factory: metrics, tracing: tracing),
                secrets: CallbackSecretSealer(vault: vault), encoder: CallbackBodies()),
            clock: clock, copyID: copyID, masterKeyIDs: { [vault] in vault.masterKeyIDs },
            makeID: UUIDVersion7.make(at:), makeSnapshotID: { UUID().uuidString },
            // What has no digest stands for itself; who must not keep it asks how long the digest is.
            digest: { (try? SHA256Digest.digest($0)) ?? $0 }, logger: logger)
        self.metrics = metrics
    }
}

/// Reads the certificates that Apple's signatures must lead to.
///
/// - Throws: `FileError` naming the file, what is wrong with it, and what to do.
private func rootCertificates(_ paths: [String]) throws(FileError) -> [Certificate] {
    do throws(FileError) {
        return try Files.certificates(paths)
    } catch {
        throw FileError(
            path: error.path,
            problem: "\(error.problem); put the certificate there that `apple.rootCertificates` names: "
                + "Apple's are at https://www.apple.com/certificateauthority/")
    }
}

/// Looks at the authorities that are trusted instead of the system's: libcurl would say so at each call, and not at the start.
///
/// - Throws: `FileError` naming the file, what is wrong with it, and what to do.
private func checkAuthorities(_ path: String, _ section: String) throws(FileError) {
    do throws(FileError) {
        try Files.checkAuthorities(path)
    } catch {
        throw FileError(
            path: error.path,
            problem: "\(error.problem); put the authorities there, in PEM, that "
                + "`\(section).certificateAuthorityFile` names")
    }
}

/// Opens the store, asking the service manager for patience while migrations run.
///
/// - Throws: `ConfigurationError` when a newer version has written it, else `storeUnavailable`.
private func openStore(
    _ location: StoreLocation, _ apps: [App], _ secrets: InstallationSecretSealer,
    _ time: @escaping StoreOperation.Timer, _ dependencies: Dependencies
) async throws -> any SQLStore {
    let patience = Task {
        repeat {
            await dependencies.notifier.tell(
                .extendTimeout(.seconds(30)), .status("Opening the store"), logger: dependencies.logger)
        } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
    defer { patience.cancel() }
    switch location {
    case .sqlite(let path):
        do {
            return try await SQLiteStore.open(
                at: path, apps: apps, secrets: secrets, time: time, logger: dependencies.logger)
        } catch {
            throw StoreOpening.failure(error, path)
        }
    case .postgres(let configuration):
        return try await PostgresStore.open(
            configuration, apps: apps, secrets: secrets, time: time, logger: dependencies.logger)
    }
}

/// Why a store in a file cannot be opened.
enum StoreOpening {
    /// The failure with the fix; a `ConfigurationError` where a newer version has written the file, which no restart fixes.
    static func failure(_ error: ServiceError, _ path: String) -> any Error {
        guard !StoreCheck.isOfNewerVersion(path) else {
            return ConfigurationError(problems: [ConfigurationProblem(.file(path), key: "store", error.message)])
        }
        guard error.cause != nil else { return error }
        return ServiceError(
            error.reason,
            "\(error.message) `store` names it; it and its folder must be Purser's own. `purser store check` examines it, "
                + "`purser restore --replace` puts a backup in its place.",
            cause: error.cause)
    }
}

/// Records the accepted loss of a master key, with the names of the unreadable secrets.
private func recordLoss(
    of masterKeyID: String, _ names: [String], _ audit: AuditWriter, _ vault: SecretVault, _ logger: Logger
) async {
    await audit.settle(
        AuditAct(
            .masterKeyLossAccepted, by: .daemon,
            details: [
                "lost": masterKeyID, "present": vault.masterKeyID, "count": String(names.count),
                "unreadable": names.sorted().prefix(100).joined(separator: ", "),
            ]))
    logger.warning(
        "Master key loss accepted",
        metadata: [
            "lost_master_key_id": "\(masterKeyID)", "master_key_id": "\(vault.masterKeyID)",
            "count": .stringConvertible(names.count), "action": "remove --accept-new-master-key from the command",
        ])
}

/// Tells of those secrets of the installation that are not simply there.
private func tell(_ states: [InstallationSecret: InstallationSecretState], _ logger: Logger) {
    for (secret, state) in states.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let metadata: Logger.Metadata = ["secret": "\(secret.rawValue)"]
        switch state {
        case .open: break
        case .sealed:
            logger.notice(
                "A secret that the store kept in clear is sealed now; backups of before still have it in clear",
                metadata: metadata)
        case .replaced(let reason):
            logger.warning(
                "Installation secret set aside; a new one is in use, and nothing in the store depends on the old one",
                metadata: metadata.merging(["cause": "\(reason)"]) { $1 })
        case .closed(let reason):
            logger.error(
                "A secret of this installation does not open; NOTHING IS SENT to Apple until it does",
                metadata: metadata.merging(["cause": "\(reason)"]) { $1 })
        }
    }
}

extension PageTokenCoder {
    /// Page tokens authenticated with a key that the store keeps sealed.
    init(store: any SQLStore) {
        self.init(
            // A code that cannot be computed is no code.
            authenticationCode: store.secrets.pageTokenCode ?? { _ in [] }, encode: { Base64URL.encode($0) },
            decode: { Base64URL.decode($0) })
    }
}

extension Access.Credentials {
    /// Tokens of our own, and JWTs that name this installation.
    ///
    /// - Throws: `storeUnavailable`.
    init(store: any SQLStore) async throws {
        let issuer = try await store.installationIdentifier(name: "callerKeyIssuer") {
            Array(UUID().uuidString.lowercased().utf8)
        }
        self.init(
            issuerID: String(decoding: issuer, as: UTF8.self),
            // A digest that cannot be computed matches no credential.
            digest: { (try? SHA256Digest.digest($0)) ?? [] },
            makeToken: { try OpaqueToken.generate { try SecureRandom.bytes($0) } },
            decodePublicKey: { (try? ECPublicKey(pemRepresentation: $0))?.derRepresentation },
            readToken: CallerToken.init(jwt:))
    }
}

extension CallerToken {
    /// The longest token that is read, in bytes.
    private static let maximumBytes = 8 * 1024

    /// Takes a JWT apart; nil for anything that is not one of algorithm ES256.
    fileprivate init?(jwt text: String) {
        guard let token = try? CompactJWS(text, maximumCount: Self.maximumBytes),
            let header = try? token.parseHeader(), let payload = try? token.decodePayload(),
            let claims = try? JWTClaims(parsing: payload)
        else { return nil }
        self.init { publicKey in
            // Whatever keeps the signature from being checked, the token has not proved anything.
            guard let key = try? ECPublicKey(derRepresentation: publicKey) else { return false }
            return (try? token.verify(with: key, header: header)) != nil
        }
        keyID = header.keyID
        type = header.type
        issuer = claims.issuer
        audience = claims.audience
        issuedAt = claims.issuedAt
        notBefore = claims.notBefore
        expiresAt = claims.expiresAt
        bundleID = claims.text("bid")
    }
}
