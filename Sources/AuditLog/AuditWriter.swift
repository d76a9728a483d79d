package import CoreMetrics
package import Domain
import Foundation
package import Logging
import Synchronization

/// Writes the audit: one thread writes many records at once and waits for the disk once for all of them.
///
/// Nothing here blocks whoever calls.
package final class AuditWriter: AuditTrail {
    /// Records of one write at most.
    private static let batchSize = 1000

    private let thread = DispatchQueue(label: "purser.audit", qos: .userInitiated)
    private let waiting: Mutex<AuditQueue>
    /// Only the thread takes this lock, and for as long as the disk takes.
    private let disk: Mutex<AuditDisk>
    private let maximumWaiting: Int
    private let pseudonyms: any AuditPseudonymStore
    private let now: WallClock
    private let meter: AuditMeter

    /// Where the audit is kept, and how much of it.
    package struct Settings: Sendable {
        package var directory: AuditDirectory
        /// The file for records that the log cannot take.
        package var reservePath: String
        package var bounds = AuditBounds()
        package var calls = FileCalls.system

        package init(directory: AuditDirectory, reservePath: String) {
            self.directory = directory
            self.reservePath = reservePath
        }
    }

    /// Opens the log, or begins it.
    ///
    /// Blocks.
    ///
    /// - Throws: `AuditFileError` and `AuditKeyError` for what does not pass by itself; without room on the disk the log is
    ///   opened later.
    package init(
        _ settings: Settings, keys: any AuditKeySource, pseudonyms: any AuditPseudonymStore, now: @escaping WallClock,
        metrics: any MetricsFactory, logger: Logger
    ) throws {
        var disk = AuditDisk(
            directory: settings.directory, reservePath: settings.reservePath, bounds: settings.bounds,
            calls: settings.calls, keys: keys, logger: logger)
        do {
            try disk.write([], at: now())
        } catch let error as AuditFileError where error.mayPass {
            // Told of by the disk; whatever needs a record waits until there is one.
        }
        self.now = now
        self.pseudonyms = pseudonyms
        maximumWaiting = settings.bounds.maximumWaiting
        meter = AuditMeter(factory: metrics)
        meter.show(disk.status)
        waiting = Mutex(AuditQueue(status: disk.status))
        self.disk = Mutex(disk)
    }

    /// How it stands.
    package var status: AuditStatus { waiting.withLock(\.status) }

    package func record(_ act: AuditAct) async throws(ServiceError) {
        let entry = AuditRecord.Entry(act, at: now())
        guard await submit({ .init(entry: entry, urgency: .record($0)) }) else { throw Self.unavailable }
    }

    package func settle(_ act: AuditAct) async {
        let entry = AuditRecord.Entry(act, at: now())
        _ = await submit { .init(entry: entry, urgency: .settle($0)) }
    }

    package func note(_ act: AuditAct) throws(ServiceError) {
        let entry = AuditRecord.Entry(act, at: now())
        let (isTaken, mustSchedule) = waiting.withLock { waiting in
            guard !waiting.status.isExhausted, waiting.items.count < maximumWaiting else { return (false, false) }
            return (true, waiting.add(.init(entry: entry, urgency: .note)))
        }
        guard isTaken else { throw Self.unavailable }
        if mustSchedule { schedule() }
    }

    package func pseudonym(of user: UserID, app: String) async -> String? {
        try? await pseudonyms.auditPseudonym(of: user, app: app)
    }

    package func existingPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? {
        try await pseudonyms.existingAuditPseudonym(of: user, app: app)
    }

    /// Tries again to write what is owed, and returns when it was tried.
    package func retry() async { _ = await submit { .init(entry: nil, urgency: .retry($0)) } }

    /// Removes segments that have been kept long enough.
    ///
    /// - Returns: how many.
    /// - Throws: `AuditFileError`
    package func expire() async throws(AuditFileError) -> Int {
        let result: Result<Int, AuditFileError> = await withCheckedContinuation { continuation in
            thread.async { [self] in
                continuation.resume(
                    returning: disk.withLock { disk in
                        let result = Result { () throws(AuditFileError) in try disk.expire(at: now()) }
                        publish(disk.status)
                        return result
                    })
            }
        }
        return try result.get()
    }

    /// Ends the writing: what waits is written, and whoever comes later opens the log again.
    package func close() async {
        await retry()
        await withCheckedContinuation { continuation in
            thread.async { [self] in
                disk.withLock { $0.close() }
                continuation.resume()
            }
        }
    }

    private static let unavailable = ServiceError(
        .auditUnavailable, "The audit cannot be written, and this must not happen without a record. Try again later.")

    // MARK: The thread

    private func submit(
        _ item: (CheckedContinuation<Bool, Never>) -> AuditQueue.Item
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let item = item(continuation)
            let (isTaken, mustSchedule) = waiting.withLock { waiting in
                // What has happened is taken in any case: as many as requests are let in.
                if case .record = item.urgency, waiting.items.count >= maximumWaiting { return (false, false) }
                return (true, waiting.add(item))
            }
            if !isTaken { continuation.resume(returning: false) }
            if mustSchedule { schedule() }
        }
    }

    private func schedule() { thread.async { [self] in disk.withLock { work(&$0) } } }

    /// Writes what waits, batch by batch, until nothing does.
    private func work(_ disk: inout AuditDisk) {
        while let batch = waiting.withLock({ $0.take(Self.batchSize) }) {
            let entries = batch.compactMap(\.entry)
            let isWritten: Bool
            do {
                meter.written(try disk.write(entries, at: now()))
                isWritten = true
            } catch {
                isWritten = false
                meter.failed()
                disk.owe(
                    batch.compactMap { item in if case .record = item.urgency { nil } else { item.entry } })
            }
            publish(disk.status)
            for item in batch {
                switch item.urgency {
                case .record(let continuation), .settle(let continuation), .retry(let continuation):
                    continuation.resume(returning: isWritten)
                case .note: break
                }
            }
        }
    }

    private func publish(_ status: AuditStatus) {
        waiting.withLock { $0.status = status }
        meter.show(status)
    }
}
