import AuditLog
import Curl
import Domain
package import Foundation
import KeyCustody

/// `purser audit …`: reads and verifies the files of the audit, whether a daemon runs or not.
package struct AuditCommand: Sendable {
    /// Where the audit is, and the key of its keys.
    package struct Source: Sendable {
        /// The configuration file; not read where the next two are given.
        package var file: String
        package var directory: String?
        /// The file of the master key.
        package var masterKey: String?
        package var environment: [String: String]

        package init(file: String, directory: String?, masterKey: String?, environment: [String: String]) {
            self.file = file
            self.directory = directory
            self.masterKey = masterKey
            self.environment = environment
        }
    }

    private let source: Source

    package init(_ source: Source) { self.source = source }

    /// Shows the newest records for people, oldest first.
    ///
    /// `filter`: which; `limit`: how many at most.
    package func list(_ filter: AuditFilter, limit: Int) async -> CommandOutcome {
        await Blocking.run { outcome { try newest(limit, filter) } }
    }

    private func newest(_ limit: Int, _ filter: AuditFilter) throws -> CommandOutcome {
        var shown: [AuditRecord] = []
        var count = 0
        try AuditReader(directory: try directory()).read(filter.query) { record, _ in
            count += 1
            shown.append(record)
            if shown.count / 2 > limit { shown.removeFirst(shown.count - limit) }
        }
        shown = shown.suffix(limit)
        let rest = count > shown.count ? "\(count - shown.count) older records are not shown (--limit).\n" : ""
        return CommandOutcome(
            .success, output: shown.map { "\(Self.line($0))\n" }.joined(), errorOutput: rest)
    }

    /// Writes records as they stand in the files: a line of JSON each.
    ///
    /// `write`: takes one line with its line feed; it may block.
    package func export(
        _ filter: AuditFilter, to write: @escaping @Sendable ([UInt8]) throws -> Void
    ) async -> CommandOutcome {
        await Blocking.run {
            outcome {
                try AuditReader(directory: try directory()).read(filter.query) { _, line in
                    try write(line + [UInt8(ascii: "\n")])
                }
                return CommandOutcome(.success)
            }
        }
    }

    /// Finds out whether the records are as they were written; it blocks.
    ///
    /// - Parameter journal: lines of the service's log; the heads in them tell what was cut off.
    /// - Returns: `failure` with everything that is wrong.
    package func verify(journal: [String]) -> CommandOutcome {
        outcome {
            let heads = journal.compactMap { AuditHead(in: $0) }
            let directory = try directory()
            var verifier = AuditVerifier(
                directory: directory, keys: SealedAuditKeys(directory: directory, vault: try vault()), heads: heads)
            let report = try verifier.verify()
            var lines = report.findings.map(\.description)
            lines.append(
                "\(report.records) records in \(report.segments) segments, "
                    + (report.last.map { "the last of \($0.formatted(.iso8601))" } ?? "none of them authentic")
                    + "; \(report.heads) of \(report.knownHeads) heads of the journal are in their place.")
            if heads.isEmpty {
                lines.append(
                    "Without the journal's heads nobody can tell what was cut off the end; see `purser audit verify --help`."
                )
            }
            lines.append(report.isSound ? "Nothing is wrong." : "The audit is not as it was written.")
            return CommandOutcome(
                report.isSound ? .success : .failure, output: lines.map { "\($0)\n" }.joined())
        }
    }

    // MARK: Where it is

    private func directory() throws -> AuditDirectory {
        if let directory = source.directory { return AuditDirectory(directory) }
        return AuditDirectory(try configuration().audit.directory)
    }

    /// The master key that is there; none is made.
    private func vault() throws -> SecretVault {
        let place: MasterKeySource
        if let path = source.masterKey {
            // The operator names the file in the command, and may have copied it from another machine.
            place = .file(path: path, allowsGroupRead: true)
        } else {
            let configuration = try configuration()
            try configuration.masterKey.check(owners: configuration.secretFiles)
            if case .made(let path) = configuration.masterKey {
                place = .file(path: path, allowsGroupRead: false)
            } else {
                place = configuration.masterKey
            }
        }
        return SecretVault(try place.load().keys, source: place)
    }

    private func configuration() throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration.load(file: source.file, environment: source.environment)
    }

    private func outcome(_ body: () throws -> CommandOutcome) -> CommandOutcome {
        do {
            return try body()
        } catch let error as ConfigurationError {
            return CommandOutcome(.configuration, errorOutput: "\(error)\n")
        } catch let error as AuditFileError {
            return CommandOutcome(.noInput, errorOutput: "\(error)\n")
        } catch let error as SecretFileError {
            return CommandOutcome(.noInput, errorOutput: "The master key is needed: \(error)\n")
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }

    private static func line(_ record: AuditRecord) -> String {
        var words = [
            "\(record.sequence)", record.at.formatted(.iso8601), record.action,
            record.actor + (record.claimedName.map { " (as \($0))" } ?? ""),
        ]
        words += [
            ("app", record.app), ("key", record.keyID), ("caller", record.caller), ("user", record.pseudonym),
            ("token", record.tokenDigest.map { "\($0.prefix(16))…" }),
        ].compactMap { name, value in value.map { "\(name)=\($0)" } }
        words += record.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        // A name that somebody made up must not look like a line of its own, or move the terminal's cursor.
        return words.joined(separator: "  ").map { $0.isASCII && ($0 < " " || $0 == "\u{7F}") ? "?" : $0 }
            .reduce(into: "") { $0.append($1) }
    }
}

/// Which records an operator wants to see.
package struct AuditFilter: Sendable {
    let query: AuditQuery

    /// `since`: a time (RFC 3339), or how long ago, such as `24h`; `now`: the time of day.
    ///
    /// Result: nil when `since` is neither.
    package init?(
        since: String? = nil, action: String? = nil, actor: String? = nil, app: String? = nil, keyID: String? = nil,
        pseudonym: String? = nil, now: Date = Date()
    ) {
        var query = AuditQuery()
        if let since {
            guard let date = Self.date(since, now) else { return nil }
            query.since = date
        }
        query.action = action
        query.actor = actor
        query.app = app
        query.keyID = keyID
        query.pseudonym = pseudonym
        self.query = query
    }

    private static func date(_ text: String, _ now: Date) -> Date? {
        let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        if let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), count >= 0 {
            return now.addingTimeInterval(-unit * TimeInterval(count))
        }
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        return styles.lazy.compactMap { try? $0.parse(text) }.first
            ?? (try? Date.ISO8601FormatStyle().year().month().day().parse(text))
    }
}

/// Asks the running daemon under which name the audit speaks of a user.
package enum AuditPseudonymCommand {
    private struct Named: Decodable {
        let pseudonym: String?
    }

    /// - Returns: the name, nil where the audit has never spoken of the user, or an erasure has forgotten it; or why it cannot
    ///   be told.
    package static func pseudonym(
        of user: String, app: String, daemon: RunningDaemon
    ) async -> Result<String?, AuditLookUpError> {
        do {
            let path = [app, user].map(CallerKeysCommand.segment)
            let reply = try await daemon.client().send(.get, "/v1/apps/\(path[0])/users/\(path[1])/auditPseudonym")
            guard reply.isSuccess else {
                return .failure(AuditLookUpError(outcome: try RunningDaemon.refusal(reply)))
            }
            return .success(try reply.decoded(Named.self).pseudonym)
        } catch {
            return .failure(
                AuditLookUpError(
                    outcome: CommandOutcome(
                        .failure, errorOutput: "Only the running daemon knows users by name: \(error)\n")))
        }
    }
}

/// Why a user's name in the audit cannot be told.
package struct AuditLookUpError: Error {
    package let outcome: CommandOutcome
}
