import AuditLog
import CoreMetrics
import Foundation
import KeyCustody
import Logging
import OpenSSL
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Daemon
@testable import Domain

/// What is done for the audit again and again: heads, retries, retention, uses of tokens, failures to authenticate.
struct AuditServicesTests {
    private final class Keys: AuditKeySource {
        private let kept = Mutex<[String: AuditKey]>([:])

        func key(chain: String) throws(AuditKeyError) -> AuditKey {
            guard let key = kept.withLock({ $0[chain] }) else { throw AuditKeyError("it is lost") }
            return key
        }

        func make() throws(AuditKeyError) -> AuditKey {
            do {
                let key = try AuditKey(SecureBytes(count: AuditKey.count) { $0.copyBytes(from: [UInt8](0..<32)) })
                kept.withLock { $0[key.chain] = key }
                return key
            } catch {
                throw AuditKeyError("\(error)")
            }
        }
    }

    private struct Pseudonyms: AuditPseudonymStore {
        func auditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String { "p" }
        func existingAuditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? { nil }
    }

    /// An audit in a folder of its own, whose disk can be full and whose time is stepped.
    private final class Stage: Sendable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-audit-\(UUID().uuidString)")
        let log = RecordedLog()
        let clock = ManualClock()
        let keys = Keys()
        let isFull = Atomic(false)
        let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func open() throws -> AuditWriter {
            var settings = AuditWriter.Settings(
                directory: AuditDirectory(folder.appending(path: "audit").path),
                reservePath: folder.appending(path: "reserve").path)
            settings.bounds.reserveBytes = 1 << 14
            settings.bounds.segmentAge = 100
            settings.bounds.retention = 1000
            settings.calls.write = { [self] descriptor, bytes, offset in
                guard isFull.load(ordering: .relaxed) else { return FileCalls.system.write(descriptor, bytes, offset) }
                errno = ENOSPC
                return -1
            }
            return try AuditWriter(
                settings, keys: keys, pseudonyms: Pseudonyms(), now: { [self] in date.withLock(\.self) },
                metrics: NOOPMetricsHandler.instance, logger: log.logger)
        }

        /// Runs a service while a test goes on, and stops it.
        func during(_ service: any Service, _ test: () async throws -> Void) async throws {
            let group = ServiceGroup(
                services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let running = Task { try await group.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await test()) } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await running.value
            try result.get()
        }

        /// Lets so much time pass, and returns when what is done then has been done.
        func pass(_ duration: Duration) async {
            await clock.sleeperHasArrived()
            clock.advance(by: duration)
            await clock.sleeperHasArrived()
        }
    }

    private let stage: Stage

    init() throws { stage = try Stage() }

    private func act(_ action: AuditAct.Action = .storeBackedUp) -> AuditAct { AuditAct(action, by: .daemon) }

    @Test func `the last record is logged each minute in which there is a new one, and so that verify can read it`()
        async throws
    {
        let audit = try stage.open()
        let service = AuditService(
            audit: audit, configuration: try ConfigurationFixture.configuration(ConfigurationFixture.minimal),
            logger: stage.log.logger)
        try await stage.during(PeriodicService.auditHeads(service, clock: stage.clock)) {
            try await audit.record(act())
            await stage.pass(.seconds(60))
            #expect(stage.log.lines("Audit head").map { AuditHead(in: $0.message) } == [audit.status.head])
            await stage.pass(.seconds(60))
            #expect(stage.log.lines("Audit head").count == 1, "nothing new")
            try await audit.record(act())
            await stage.pass(.seconds(59))
            #expect(stage.log.lines("Audit head").count == 1)
            await stage.pass(.seconds(1))
            #expect(stage.log.lines("Audit head").last.flatMap { AuditHead(in: $0.message) } == audit.status.head)
            #expect(stage.log.lines("Audit head").count == 2)
        }
    }

    @Test func `the daemon's start and end are records, and their heads are logged`() async throws {
        let audit = try stage.open()
        let configuration = try ConfigurationFixture.configuration(ConfigurationFixture.minimal)
        try await stage.during(
            AuditService(audit: audit, configuration: configuration, logger: stage.log.logger)
        ) {
            try await Wait.until("the first head") { !stage.log.lines("Audit head").isEmpty }
        }
        var actions: [String] = []
        try AuditReader(directory: AuditDirectory(stage.folder.appending(path: "audit").path)).read(AuditQuery()) {
            record, _ in actions.append(record.action)
        }
        #expect(actions.first == "segmentBegan" && actions.dropFirst().first == "serviceStarted")
        #expect(actions.last == "serviceStopped")
        #expect(stage.log.lines("Audit head").count == 2)
        // It has let go of the files.
        _ = try stage.open()
    }

    @Test func `what is owed is tried again every five seconds, and nothing is done where nothing is owed`()
        async throws
    {
        let audit = try stage.open()
        try await stage.during(PeriodicService.auditRetries(audit, clock: stage.clock)) {
            stage.isFull.store(true, ordering: .relaxed)
            await audit.settle(act(.userErased))
            await stage.pass(.seconds(5))
            #expect(audit.status.owed == 1)
            stage.isFull.store(false, ordering: .relaxed)
            await stage.pass(.seconds(4))
            #expect(audit.status.owed == 1)
            await stage.pass(.seconds(1))
            #expect(audit.status.owed == 0 && audit.status.problem == nil)
            let head = audit.status.head
            await stage.pass(.seconds(5))
            #expect(audit.status.head == head)
        }
    }

    @Test func `segments that are old enough are removed once an hour, and that is logged`() async throws {
        let audit = try stage.open()
        try await audit.record(act())
        stage.date.withLock { $0 += 500 }
        try await audit.record(act())
        stage.date.withLock { $0 += 1001 }
        let time = ServiceClock(now: { [stage] in stage.date.withLock(\.self) })
        let service = PeriodicService.auditRetention(audit, time: time, clock: stage.clock, logger: stage.log.logger)
        try await stage.during(service) {
            await stage.pass(.seconds(3599))
            #expect(stage.log.lines("Removed segments").isEmpty)
            await stage.pass(.seconds(1))
            #expect(stage.log.lines("Removed segments").map { $0.metadata["segments"] } == ["1"])
        }
    }

    @Test func `uses of tokens are told every ten minutes, and the rest at the end`() async throws {
        let path = stage.folder.appending(path: "key.p8").path
        let text = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Data($0) }
        #expect(FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600]))
        let key = KeyDeclaration(
            keyID: "KEY1", issuerID: "issuer", path: path, source: .file(allowsGroupRead: false), state: .active,
            apps: ["coins"])
        let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
        let audit = RememberedAudit()
        let minter = TokenMinter(
            keys: try KeyRing(loading: [key]), clock: ServiceClock(now: { [stage] in stage.date.withLock(\.self) }),
            audit: audit, metrics: NOOPMetricsHandler.instance, logger: stage.log.logger)
        try await stage.during(PeriodicService.tokenUses(minter, of: AppCatalog([app]), clock: stage.clock)) {
            for _ in 0..<3 { _ = try minter.token(for: app) }
            await stage.pass(.seconds(600))
            #expect(audit.acts(.tokenUsed).map { $0.details["uses"] } == ["3"])
            await stage.pass(.seconds(600))
            #expect(audit.acts(.tokenUsed).count == 1)
            _ = try minter.token(for: app)
        }
        #expect(audit.acts(.tokenUsed).map { $0.details["uses"] } == ["3", "1"])
    }

    @Test func `failures to authenticate beyond those that are recorded are counted each minute, and at the end`()
        async throws
    {
        let audit = RememberedAudit()
        let failures = AuthenticationFailures(audit: audit)
        func fail(_ count: Int) { for _ in 0..<count { failures.note(from: "192.0.2.1", claim: nil) } }
        try await stage.during(PeriodicService.authenticationFailures(failures, clock: stage.clock)) {
            fail(8)
            await stage.pass(.seconds(60))
            #expect(audit.acts(.authenticationFailuresCounted).map { $0.details["count"] } == ["3"])
            fail(6)
        }
        #expect(audit.acts(.authenticationFailuresCounted).map { $0.details["count"] } == ["3", "1"])
        #expect(audit.acts(.authenticationFailed).count == 10)
    }
}
