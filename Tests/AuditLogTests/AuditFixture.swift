import CoreMetrics
import Domain
import Foundation
import OpenSSL
import Synchronization
import TestSupport

@testable import AuditLog

/// An audit in a folder of its own, with a clock that is stepped and a disk that can be full.
final class AuditFixture {
    /// The keys of chains, kept in memory; a key can be lost.
    final class Keys: AuditKeySource {
        private let kept = Mutex<[String: AuditKey]>([:])

        func key(chain: String) throws(AuditKeyError) -> AuditKey {
            guard let key = kept.withLock({ $0[chain] }) else { throw AuditKeyError("it is lost") }
            return key
        }

        func make() throws(AuditKeyError) -> AuditKey {
            do {
                let random = try SecureRandom.bytes(AuditKey.count)
                let key = try AuditKey(SecureBytes(count: random.count) { $0.copyBytes(from: random) })
                kept.withLock { $0[key.chain] = key }
                return key
            } catch {
                throw AuditKeyError("\(error)")
            }
        }

        func loseAll() { kept.withLock { $0 = [:] } }
    }

    /// A disk that takes nothing while it is full, or only the beginning of what is written.
    final class Disk: Sendable {
        private struct Failure {
            var path: String?
            var error: CInt = 0
            var above = 0
            var keepsAll = false
        }

        private let failing = Mutex(Failure())
        /// How often the disk was waited for.
        let synchronizations = Atomic<Int>(0)

        /// Lets every write fail whose file's path contains a text, the empty one being in all, and that is longer than so many
        /// bytes; nil mends the disk.
        ///
        /// `keepsAll`: all of it is in the file nevertheless, and cannot be cut off.
        func fail(_ path: String?, with error: CInt = ENOSPC, above size: Int = 0, keepsAll: Bool = false) {
            failing.withLock { $0 = Failure(path: path, error: error, above: size, keepsAll: keepsAll) }
        }

        var calls: FileCalls {
            FileCalls(
                write: { [self] descriptor, bytes, offset in
                    if let failure = failure(of: descriptor), bytes.count > failure.above {
                        // What the disk still had room for is there.
                        let kept = failure.keepsAll ? bytes : bytes.prefix(bytes.count / 2)
                        _ = FileCalls.system.write(descriptor, kept, offset)
                        errno = failure.error
                        return -1
                    }
                    return FileCalls.system.write(descriptor, bytes, offset)
                },
                synchronize: { [self] descriptor in
                    synchronizations.wrappingAdd(1, ordering: .relaxed)
                    return FileCalls.system.synchronize(descriptor)
                },
                truncate: { [self] descriptor, size in
                    if let failure = failure(of: descriptor), failure.keepsAll {
                        errno = failure.error
                        return -1
                    }
                    return FileCalls.system.truncate(descriptor, size)
                })
        }

        private func failure(of descriptor: CInt) -> Failure? {
            let failure = failing.withLock(\.self)
            guard let path = failure.path else { return nil }
            if path.isEmpty { return failure }
            let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
            return name.contains(path) ? failure : nil
        }
    }

    /// The time of day, as far as somebody steps it.
    final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

        var now: Date { date.withLock(\.self) }

        func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
    }

    /// Turns a user's id round.
    struct Pseudonyms: AuditPseudonymStore {
        func auditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String {
            String(user.value.reversed())
        }

        func existingAuditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? { nil }
    }

    let folder: URL
    let keys: Keys
    let disk = Disk()
    let log = RecordedLog()
    let time = Time()
    var bounds = AuditBounds()

    init(keys: Keys = Keys()) throws {
        self.keys = keys
        folder = FileManager.default.temporaryDirectory.appending(path: "purser-audit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        bounds.reserveBytes = 1 << 16
    }

    /// What another process finds whose predecessor ended at this moment.
    func copy() throws -> AuditFixture {
        let copy = try AuditFixture(keys: keys)
        try FileManager.default.removeItem(at: copy.folder)
        try FileManager.default.copyItem(at: folder, to: copy.folder)
        copy.bounds = bounds
        return copy
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var directory: AuditDirectory { AuditDirectory(folder.appending(path: "audit").path) }
    var reservePath: String { folder.appending(path: "reserve").path }

    /// Opens the audit as the service does at its start.
    func open() throws -> AuditWriter {
        var settings = AuditWriter.Settings(directory: directory, reservePath: reservePath)
        settings.bounds = bounds
        settings.calls = disk.calls
        return try AuditWriter(
            settings, keys: keys, pseudonyms: Pseudonyms(), now: { [time] in time.now },
            metrics: NOOPMetricsHandler.instance, logger: log.logger)
    }

    var now: Date { time.now }

    /// How often the disk was waited for.
    var synchronizations: Int { disk.synchronizations.load(ordering: .relaxed) }

    func advance(by seconds: TimeInterval) { time.advance(by: seconds) }

    func path(_ segment: Int) -> String { directory.path(of: .init(number: segment)) }

    /// The numbers of the segments that are there.
    func segmentNumbers() throws -> [Int] { try directory.segments().map(\.number) }

    /// The lines of a segment.
    func lines(_ segment: Int) throws -> [String] {
        try String(contentsOfFile: path(segment), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Puts other lines into a segment.
    func write(_ lines: [String], to segment: Int, end: String = "\n") throws {
        try Data((lines.joined(separator: "\n") + end).utf8).write(to: URL(filePath: path(segment)))
    }

    /// Every record of the log, in order.
    func records() throws -> [AuditRecord] {
        try directory.segments().flatMap { segment in
            try lines(segment.number).compactMap { AuditRecord(line: Array($0.utf8)) }
        }
    }

    /// What the records say that are not the log's own.
    func acts() throws -> [String] {
        try records().map(\.action).filter { AuditAct.Action(rawValue: $0) != nil }
    }
}

extension AuditAct {
    /// An act that is told from others by a number.
    static func sample(_ number: Int, _ action: Action = .signatureMade) -> AuditAct {
        AuditAct(
            action, by: .caller("shop"), app: "coins", keyID: "ABCDEFGHIJ",
            tokenDigest: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32),
            details: ["number": String(number)])
    }
}
