package import Foundation

/// Which records are wanted; what is nil does not matter.
package struct AuditQuery: Sendable, Equatable {
    package var since: Date?
    package var action: String?
    /// As records write it, such as `caller:shop`; without a colon, whatever kind of actor has this name.
    package var actor: String?
    package var app: String?
    package var keyID: String?
    package var pseudonym: String?

    package init() {}

    package func matches(_ record: AuditRecord) -> Bool {
        func fits(_ wanted: String?, _ found: String?) -> Bool { wanted == nil || wanted == found }
        return since.map { record.at >= $0 } ?? true && fits(action, record.action) && fits(app, record.app)
            && fits(keyID, record.keyID) && fits(pseudonym, record.pseudonym) && isBy(record)
    }

    /// Whether an act is by whom is asked for, or is about that caller, or was claimed to be by it.
    private func isBy(_ record: AuditRecord) -> Bool {
        guard let actor else { return true }
        let names = [
            record.actor, record.actor.split(separator: ":", maxSplits: 1).last.map(String.init), record.caller,
            record.claimedName,
        ]
        return names.contains(actor)
    }
}

/// Reads records as they stand in the files, without asking whether they are authentic.
package struct AuditReader {
    private let directory: AuditDirectory

    package init(directory: AuditDirectory) { self.directory = directory }

    /// Shows every record that is wanted, oldest first.
    ///
    /// Blocks.
    ///
    /// `show`: given the record, and its line without the line feed.
    ///
    /// - Throws: `AuditFileError`, and what showing throws.
    package func read(_ query: AuditQuery, show: (AuditRecord, [UInt8]) throws -> Void) throws {
        for segment in try segments(since: query.since) {
            var lines = try SegmentLines(directory.path(of: segment))
            while let line = try lines.next() {
                guard let record = AuditRecord(line: line.bytes), query.matches(record) else { continue }
                try show(record, line.bytes)
            }
        }
    }

    /// The segments that may have a record of this time or later.
    private func segments(since: Date?) throws(AuditFileError) -> [AuditDirectory.Segment] {
        var segments = try directory.segments()
        guard let since else { return segments }
        while segments.count > 1, let next = try AuditChainEnd.head(of: segments[1], in: directory), next.at < since {
            segments.removeFirst()
        }
        return segments
    }
}
