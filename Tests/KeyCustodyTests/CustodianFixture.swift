import CoreMetrics
import Domain
import Foundation
import KeyCustody
import Logging
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// A custodian over a store in memory, which can be started anew as after a restart.
final class CustodianFixture: Sendable {
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    static let coins = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    static let gems = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 2)
    static let operatorActor = Actor.operator(uid: 1000, claimedName: "mara")

    let files: KeyFixture
    let clock = HandClock()
    let store: InMemoryKeyStore
    let audit = RememberedAudit()
    let probe = FakeKeyProbe()
    let log = RecordedLog()
    let masterKey: MasterKeySource

    /// `isShared`: whether several runs at the same time are copies of the daemon on one store.
    init(isShared: Bool = false) throws {
        store = InMemoryKeyStore(isShared: isShared)
        files = try KeyFixture()
        masterKey = .made(path: files.folder.appending(path: "purser.masterkey").path)
    }

    /// One run of a daemon, from its start on.
    struct Run: Sendable {
        let ring: KeyRing
        let minter: TokenMinter
        let custodian: KeyCustodian
        let vault: SecretVault

        func active(_ app: App = coins) async throws -> String { try minter.token(for: app).keyID }

        func state(_ keyID: String) async throws -> KeyStatus.State { try await custodian.key(keyID).state }

        /// Lets Apple refuse the active key of an app and take the first on standby.
        func refuse(_ app: App = coins) async throws -> String? {
            guard let standby = minter.standbyTokens(for: app).first else { return nil }
            let refused = try minter.token(for: app)
            return minter.activate(standby, insteadOf: refused, for: app) ? standby.keyID : nil
        }
    }

    func start(
        _ declarations: [KeyDeclaration] = [], directories: [KeyDirectory] = [], masterKey: MasterKeySource? = nil,
        warnings: KeyWarningPolicy = KeyWarningPolicy(maximumAge: nil, unusedFor: nil),
        sealedFiles: @escaping @Sendable (SecretVault) throws -> [SealedFile] = { _ in [] }
    ) async throws -> Run {
        let ring = try KeyRing(loading: declarations)
        let vault = try SecretVault.open(masterKey ?? self.masterKey).vault
        let clock = ServiceClock(
            now: { [clock] in clock.date }, monotonicNow: { [clock] in clock.instant })
        let logger = log.logger
        let minter = TokenMinter(
            keys: ring, clock: clock, audit: audit, metrics: NOOPMetricsHandler.instance, logger: logger)
        let custodian = KeyCustodian(
            ring: ring, vault: vault, store: store, minter: minter, probe: probe, audit: audit,
            settings: KeyCustodian.Settings(
                apps: AppCatalog([Self.coins, Self.gems]), directories: directories, warnings: warnings,
                sealedFiles: { try sealedFiles(vault) }),
            clock: clock, metrics: NOOPMetricsHandler.instance, logger: logger)
        try await custodian.start()
        return Run(ring: ring, minter: minter, custodian: custodian, vault: vault)
    }

    /// A fresh key as a request to import it.
    func request(_ keyID: String, apps: [String] = ["coins"]) throws -> KeyImport {
        let text = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Array($0) }
        return KeyImport(keyID: keyID, issuerID: Self.issuer, apps: apps, text: SecretText(text))
    }
}

/// Answers as it is told what Apple thinks of tokens, by key id; it takes all others.
final class FakeKeyProbe: KeyProbe {
    private let verdicts = Mutex<[String: [AppStoreEnvironment: KeyVerdict]]>([:])

    func answer(_ verdict: KeyVerdict, about keyID: String, in environments: [AppStoreEnvironment]) {
        verdicts.withLock { verdicts in
            for environment in environments { verdicts[keyID, default: [:]][environment] = verdict }
        }
    }

    func verdict(on token: BearerToken, for app: App, in environment: AppStoreEnvironment) async -> KeyVerdict {
        verdicts.withLock { $0[token.keyID]?[environment] } ?? .accepted
    }
}
