import Domain
import KeyCustody
import StoreSQLite
import Synchronization

/// Knows how the daemon is: for the orchestrator, the operator and the status line.
final class HealthMonitor: HealthReporter {
    /// How long a look at the store may take before it counts as unusable.
    static let storePatience = Duration.seconds(2)

    private let store: SQLiteStore
    private let keyRing: KeyRing
    private let apps: AppCatalog
    private let usesCustomUpstream: Bool
    private let apple: @Sendable () -> [HealthReport.Part]
    private let draining = Mutex(false)

    /// `apple`: how each of Apple's environments is.
    init(
        store: SQLiteStore, keys: KeyRing, apps: AppCatalog, usesCustomUpstream: Bool,
        apple: @escaping @Sendable () -> [HealthReport.Part]
    ) {
        self.store = store
        keyRing = keys
        self.apple = apple
        self.apps = apps
        self.usesCustomUpstream = usesCustomUpstream
    }

    /// Turns `/readyz` to 503, so that the orchestrator sends nothing more.
    func startDraining() { draining.withLock { $0 = true } }

    private var isDraining: Bool { draining.withLock(\.self) }

    /// One line for people, as in `systemctl status`.
    var statusLine: String {
        if isDraining { return "Draining: requests in flight are finished" }
        let signing = apps.all.count { app in activeKey(of: app) != nil }
        return "Serving \(apps.all.count) apps, \(signing) of them with an active key"
            + (usesCustomUpstream ? "; upstream is custom, not Apple" : "")
    }

    func isReady() async -> Bool {
        guard !isDraining else { return false }
        return await storeIsUsable()
    }

    func report() async -> HealthReport {
        let isUsable = await storeIsUsable()
        var parts = [
            HealthReport.Part(
                name: "store", isHealthy: isUsable,
                detail: isUsable ? "usable" : "a write did not succeed within \(Self.storePatience)"),
            HealthReport.Part(
                name: "serving", isHealthy: !isDraining, detail: isDraining ? "draining" : "accepting requests"),
        ]
        for app in apps.all {
            let key = activeKey(of: app)
            parts.append(
                HealthReport.Part(
                    name: "key:\(app.slug)", isHealthy: key != nil,
                    detail: key.map { "\($0.keyID) is active" } ?? "no active key: calls to Apple fail"))
        }
        parts += apple()
        return HealthReport(
            isReady: isUsable && !isDraining, parts: parts, upstream: usesCustomUpstream ? "custom" : "apple",
            version: Version.text)
    }

    func keys() async -> [KeyStatus] { keyRing.statuses }

    private func activeKey(of app: App) -> KeyStatus? {
        keyRing.statuses.first { $0.state == .active && $0.apps.contains(app.slug) }
    }

    /// A store that hangs, as on a dead disk, counts as unusable; the look at it ends by itself later.
    private func storeIsUsable() async -> Bool {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let look = Task { [store] in continuation.yield(await store.isUsable()) }
        let patience = Task {
            guard (try? await Task.sleep(for: Self.storePatience)) != nil else { return }
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
