import AuditLog
import Domain
import Foundation
import KeyCustody
import Listener
import StoreSQL
import Synchronization

/// Knows how the daemon is: for the orchestrator, the operator and the status line.
final class HealthMonitor: HealthReporter {
    /// How long a look at the store may take before it counts as unusable.
    static let storePatience = Duration.seconds(2)

    /// How many searches the report looks at; with more, it tells of the first ones.
    static let maximumSearches = 1000

    private let store: any SQLStore
    private let keyRing: KeyRing
    private let custodian: KeyCustodian
    private let settings: CurrentSettings
    private let loaded: LoadedConfiguration
    private let usesCustomUpstream: Bool
    private let apple: @Sendable () -> [HealthReport.Part]
    private let backlogMonitor: BacklogMonitor
    private let audit: @Sendable () -> AuditStatus
    private let now: WallClock
    private let clock: ClockReport?
    private let callers: CallerHealth
    private let searchesHistory: Bool
    private let draining = Mutex(false)
    private let certificates = Mutex<[(name: String, certificates: ListenerCertificates)]>([])

    /// - Parameters:
    ///   - store: asked whether it is usable.
    ///   - keys: which sign.
    ///   - custodian: what is wrong with them.
    ///   - configuration: what is to be told of, as it is from the start on.
    ///   - settings: what is served.
    ///   - loaded: which configuration is in force.
    ///   - backlog: what waits.
    ///   - audit: how the audit stands.
    ///   - now: the time of day.
    ///   - clock: how far that can be relied upon; nil where it is in any case.
    ///   - callers: which of them need a look.
    ///   - apple: how each of Apple's environments is.
    init(
        store: any SQLStore, keys: KeyRing, custodian: KeyCustodian, configuration: DaemonConfiguration,
        settings: CurrentSettings, loaded: LoadedConfiguration, backlog: BacklogMonitor,
        audit: @escaping @Sendable () -> AuditStatus, now: @escaping WallClock, clock: ClockReport?,
        callers: CallerHealth,
        apple: @escaping @Sendable () -> [HealthReport.Part]
    ) {
        self.store = store
        keyRing = keys
        self.custodian = custodian
        backlogMonitor = backlog
        self.audit = audit
        searchesHistory = configuration.notifications.history != nil
        self.now = now
        self.clock = clock
        self.callers = callers
        self.apple = apple
        self.settings = settings
        self.loaded = loaded
        usesCustomUpstream = configuration.apple.usesCustomUpstream
    }

    /// Turns `/readyz` to 503, so that the orchestrator sends nothing more.
    func startDraining() { draining.withLock { $0 = true } }

    /// Tells of the TLS of listeners too, once they are bound.
    func watch(_ listeners: [(name: String, certificates: ListenerCertificates)]) {
        certificates.withLock { $0 = listeners }
    }

    private var apps: AppCatalog { settings.apps }

    /// How long before its deadline a case that nobody has answered is warned of for the last time.
    private var lastWarning: Duration? { settings.read { $0.warnBefore.min() } }

    private var isDraining: Bool { draining.withLock(\.self) }

    /// One line for people, as in `systemctl status`.
    var statusLine: String {
        if isDraining { return "Draining: requests in flight are finished" }
        let signing = apps.all.count { app in keyRing.activeKeyID(for: app) != nil }
        return "Serving \(apps.all.count) apps, \(signing) of them with an active key"
            + (audit().statusLine ?? "") + (clock?.status ?? "") + (backlog?.status ?? "")
            + (usesCustomUpstream ? "; upstream is custom, not Apple" : "")
    }

    private var backlog: BacklogReport? {
        backlogMonitor.backlog.map { BacklogReport(backlog: $0, now: now(), lastWarning: lastWarning) }
    }

    /// Whether each of Apple's environments takes calls.
    var isAppleWell: Bool { !apple().contains { !$0.isHealthy } }

    func isReady() async -> Bool {
        guard !isDraining else { return false }
        return await storeIsUsable()
    }

    func report() async -> HealthReport {
        let isUsable = await storeIsUsable()
        var parts = [
            HealthReport.Part(
                name: "store", isHealthy: isUsable,
                detail: isUsable ? "usable" : store.problem ?? "a write did not succeed"),
            HealthReport.Part(
                name: "serving", isHealthy: !isDraining, detail: isDraining ? "draining" : "accepting requests"),
        ]
        parts.append(loaded.part)
        parts += tls
        parts.append(audit().part)
        if let clock { parts.append(clock.part) }
        let keys = KeyHealth(await custodian.overview(), takeovers: keyRing.takeovers)
        parts.append(keys.custody)
        parts += apps.all.map(keys.part)
        // Who asks gets what waits now, not at the last look; a look that fails is told of by `BacklogService`.
        if isUsable { try? await backlogMonitor.look() }
        parts += backlog?.parts ?? []
        parts.append(callers.part)
        if isUsable { parts.append(await CallbackHealth.part(store, now: now())) }
        if searchesHistory, isUsable { parts.append(await history()) }
        parts += apple()
        return HealthReport(
            isReady: isUsable && !isDraining, parts: parts, upstream: usesCustomUpstream ? "custom" : "apple",
            version: Version.text)
    }

    /// How far Apple's notification history has been searched; that a search has not got through yet is no fault of ours.
    private func history() async -> HealthReport.Part {
        let appEnvironments = apps.all.flatMap { app in app.environments.map { (app.slug, $0) } }.prefix(
            Self.maximumSearches)
        var ends: [Date] = []
        do throws(ServiceError) {
            for (app, environment) in appEnvironments {
                let progress = try await store.historyProgress(app: app, environment: environment)
                if let end = progress?.completeUntil { ends.append(end) }
            }
        } catch {
            return HealthReport.Part(name: "history", isHealthy: false, detail: error.message)
        }
        let unfinished = appEnvironments.count - ends.count
        let pieces = [
            ends.min().map { "searched until \($0.formatted(.iso8601))" },
            unfinished == 0 ? nil : "\(unfinished) of \(appEnvironments.count) searches have never come to an end",
        ]
        return HealthReport.Part(
            name: "history", isHealthy: true, detail: pieces.compactMap(\.self).joined(separator: "; "))
    }

    /// How the certificates of each listener with TLS are.
    private var tls: [HealthReport.Part] {
        certificates.withLock(\.self).compactMap { name, certificates in
            certificates.status.map { HealthReport.Part(listener: name, $0, now: now()) }
        }
    }

    func keys() async -> [KeyStatus] { keyRing.statuses }

    /// A store that hangs, as on a dead disk, counts as unusable; the look at it ends by itself later.
    func storeIsUsable() async -> Bool {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let look = Task { [store] in continuation.yield(await store.isUsable()) }
        let patience = Task { [store] in
            guard (try? await Task.sleep(for: Self.storePatience)) != nil else { return }
            store.noteHang(Self.storePatience)
            continuation.yield(false)
        }
        defer {
            look.cancel()
            patience.cancel()
        }
        for await answer in answers { return answer }
        return false
    }
}

extension HealthReport.Part {
    /// The TLS of a listener: unhealthy with a certificate that has expired, and with files that cannot be used.
    init(listener: String, _ status: ListenerCertificates.Status, now: Date) {
        let validity = "the certificate is valid until \(status.notAfter.formatted(.iso8601))"
        self.init(
            name: "tls:\(listener)", isHealthy: status.problem == nil && now <= status.notAfter,
            detail: status.problem.map { "\($0); what was there before is used: \(validity)" } ?? validity)
    }
}
