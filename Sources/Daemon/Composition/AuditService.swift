import AuditLog
import Domain
import Logging
import ServiceLifecycle
import Synchronization

/// Says in the audit when the service begins and ends, and in the log which record is the last.
///
/// The log is kept elsewhere than the audit, by others: with the heads in it, `purser audit verify` finds out what was cut off
/// or replaced.
final class AuditService: Service {
    private let audit: AuditWriter
    private let configuration: DaemonConfiguration
    private let logger: Logger
    private let told = Mutex<AuditHead?>(nil)

    init(audit: AuditWriter, configuration: DaemonConfiguration, logger: Logger) {
        self.audit = audit
        self.configuration = configuration
        self.logger = logger
    }

    func run() async throws {
        await audit.settle(AuditAct(.serviceStarted, by: .daemon, details: ["version": Version.text]))
        if let origin = configuration.origin {
            await audit.settle(
                AuditAct(
                    .configurationLoaded, by: .daemon, details: ["file": origin.file, "sha256": origin.digest]))
        }
        tellHead()
        try? await gracefulShutdown()
        await audit.settle(AuditAct(.serviceStopped, by: .daemon))
        tellHead()
        await audit.close()
    }

    /// Logs the last record, unless it was the last before; the message says all, so that every format of logs keeps it whole.
    func tellHead() {
        guard let head = audit.status.head else { return }
        let isNew = told.withLock { told in
            defer { told = head }
            return told != head
        }
        if isNew { logger.notice("\(head)") }
    }
}

extension AuditWriter.Settings {
    init(_ configuration: AuditConfiguration) {
        self.init(directory: AuditDirectory(configuration.directory), reservePath: configuration.reserveFile)
        bounds.retention = configuration.retention / .seconds(1)
        bounds.reserveBytes = configuration.reserveBytes
    }
}

extension AuditStatus {
    /// Whether there is something to be tried again.
    var isBehind: Bool { problem != nil || reserveProblem != nil || owed + lost > 0 }

    /// For the status line; nil when there is nothing to tell.
    var statusLine: String? {
        guard problem != nil || owed + lost > 0 else { return nil }
        return isExhausted
            ? "; the audit cannot be written: no tokens and signatures" : "; the audit owes \(owed + lost) records"
    }

    /// For `/healthz`: what an operator must look at, `docs/audit.md` says how.
    var part: HealthReport.Part {
        let room =
            reserve.map { "\($0.free) of \($0.capacity) bytes of the reserve are free" } ?? "no reserve"
        if problem == nil, owed + lost == 0, let reserveProblem {
            return HealthReport.Part(
                name: "audit", isHealthy: false,
                detail: "records are written; the reserve cannot be written: \(reserveProblem); \(room)")
        }
        guard problem == nil, owed + lost == 0 else {
            let pieces = [
                problem.map { "cannot be written: \($0)" }, "\(owed) records owed", lost > 0 ? "\(lost) lost" : nil,
                room,
                isExhausted ? "no token or signature is made" : "tokens and signatures for callers are refused",
            ]
            return HealthReport.Part(
                name: "audit", isHealthy: false, detail: pieces.compactMap(\.self).joined(separator: "; "))
        }
        return HealthReport.Part(
            name: "audit", isHealthy: true,
            detail: "record \(head?.sequence ?? 0) in segment \(segment ?? 0); \(room)")
    }
}

extension PeriodicService {
    /// Tells the audit's last record each minute, if there is a new one.
    static func auditHeads(_ service: AuditService, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(60), clock: clock) { service.tellHead() }
    }

    /// Tells the audit how many more failures to authenticate there were than it has records of.
    static func authenticationFailures(_ failures: AuthenticationFailures, clock: C) -> PeriodicService {
        PeriodicService(every: AuthenticationFailures.window, also: .last, clock: clock) { failures.tell() }
    }

    /// Tries again to write what the audit owes, and to empty the reserve of what it has written.
    static func auditRetries(_ audit: AuditWriter, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(5), clock: clock) {
            if audit.status.isBehind { await audit.retry() }
        }
    }

    /// Removes segments of the audit that have been kept long enough, by a clock that can be relied upon.
    static func auditRetention(
        _ audit: AuditWriter, time: ServiceClock, clock: C, logger: Logger
    ) -> PeriodicService {
        PeriodicService(every: .seconds(3600), clock: clock) {
            guard time.isCertain else { return }
            do throws(AuditFileError) {
                let count = try await audit.expire()
                if count > 0 {
                    logger.info("Removed segments of the audit", metadata: ["segments": .stringConvertible(count)])
                }
            } catch {
                logger.error("Segments of the audit could not be removed", metadata: ["cause": "\(error)"])
            }
        }
    }
}
