import Domain
package import Foundation
import JSON
import OpenSSL

/// One record of the log: a line of JSON that ends with its authentication code.
///
/// ```
/// {"sequence":7,"at":"…","action":"userErased","actor":"caller:shop",…,"before":"CODE OF RECORD 6","code":"CODE OF THIS"}
/// ```
/// The code is over everything before its own member, so that no record need ever be written anew to be checked.
package struct AuditRecord: Sendable, Equatable {
    /// Counts the records of a chain from 1; in the reserve it is that of the log's last record at the time.
    package var sequence: Int
    package var at: Date
    /// An action of `AuditAct`, or one of `Entry.LogAction`.
    package var action: String
    /// As `Actor.name` writes it.
    package var actor: String
    package var claimedName: String?
    package var app: String?
    package var keyID: String?
    package var caller: String?
    package var pseudonym: String?
    /// SHA-256 of a token or signature, in hexadecimal digits.
    package var tokenDigest: String?
    package var details: [String: String]
    /// Where it was kept before the log could take it; nil for one that was written at once.
    var reserved: ReservePlace?
    /// The code of the record before it.
    package var before: String
    /// The record's own code.
    package var code: String

    /// A record's place in the reserve.
    struct ReservePlace: Sendable, Hashable {
        let epoch: String
        let index: Int
    }

    /// What a record will say, before it has a place in a chain.
    struct Entry: Sendable, Hashable {
        /// What the log itself has to tell.
        enum LogAction: String, CaseIterable {
            /// The first record of a segment.
            case segmentBegan
            /// Old segments are removed.
            case segmentsExpired
            /// A record that a crash had left unfinished was cut off.
            case tornRecordRemoved
            /// The log could not be written for a while.
            case writingResumed
            /// Acts were done of which no record could be kept.
            case recordsLost
        }

        let at: Date
        let action: String
        let actor: String
        var claimedName: String?
        var app: String?
        var keyID: String?
        var caller: String?
        var pseudonym: String?
        /// In hexadecimal digits.
        var tokenDigest: String?
        var details: [String: String]
        var reserved: ReservePlace?
        /// The log's last record when this was put into the reserve; nil for what never was.
        var reservedBehind: Int?

        init(_ act: AuditAct, at: Date) {
            self.at = at
            action = act.action.rawValue
            actor = act.actor.name
            claimedName = act.actor.claimedName
            app = act.app
            keyID = act.keyID
            caller = act.caller
            pseudonym = act.pseudonym
            tokenDigest = act.tokenDigest.map { Hexadecimal.encode($0) }
            details = act.details
        }

        init(_ action: LogAction, at: Date, details: [String: String]) {
            self.at = at
            self.action = action.rawValue
            actor = Actor.daemon.name
            self.details = details
        }

        /// What a record says.
        init(_ record: AuditRecord) {
            at = record.at
            action = record.action
            actor = record.actor
            claimedName = record.claimedName
            app = record.app
            keyID = record.keyID
            caller = record.caller
            pseudonym = record.pseudonym
            tokenDigest = record.tokenDigest
            details = record.details
            reserved = record.reserved
        }

        /// What it says, wherever it is kept.
        var content: Entry {
            var content = self
            (content.reserved, content.reservedBehind) = (nil, nil)
            return content
        }
    }

    /// The first place of a chain has nothing before it.
    static let nothingBefore = String(repeating: "0", count: 2 * SHA256Digest.count)
}

// MARK: Writing

extension AuditRecord {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let codeMember = #","code":""#
    /// Length of what follows the part that the code is over: the member `code` and the closing brace.
    private static let tailCount = codeMember.utf8.count + 2 * SHA256Digest.count + 2

    /// The line of a record, without its line feed, and its code.
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    static func line(
        _ entry: Entry, sequence: Int, before: String, key: AuditKey, _ place: AuditKey.Place = .log
    ) throws(OpenSSLError) -> (bytes: [UInt8], code: String) {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("sequence", sequence)
            writer.member("at", entry.at.formatted(style))
            writer.member("action", entry.action)
            writer.member("actor", entry.actor)
            writer.memberIfPresent("claimedName", entry.claimedName)
            writer.memberIfPresent("app", entry.app)
            writer.memberIfPresent("keyId", entry.keyID)
            writer.memberIfPresent("caller", entry.caller)
            writer.memberIfPresent("user", entry.pseudonym)
            writer.memberIfPresent("tokenSHA256", entry.tokenDigest)
            if !entry.details.isEmpty {
                writer.memberObject("details") { writer in
                    for (name, value) in entry.details.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
                }
            }
            if let place = entry.reserved { writer.member("reserved", "\(place.epoch)/\(place.index)") }
            writer.member("before", before)
        }
        var bytes = writer.takeBytes()
        bytes.removeLast()
        let code = try key.code(of: bytes, place)
        bytes += Array("\(codeMember)\(code)\"}".utf8)
        return (bytes, code)
    }
}

// MARK: Reading

extension AuditRecord {
    /// Reads a line without its line feed; nil for what no version has written.
    package init?(line: [UInt8]) {
        guard line.count > Self.tailCount, let json = try? JSONValue(parsing: line),
            let sequence = json["sequence"]?.int64, let action = json["action"]?.string,
            let actor = json["actor"]?.string, let before = json["before"]?.string, let code = json["code"]?.string,
            let at = json["at"]?.string.flatMap({ try? Self.style.parse($0) })
        else { return nil }
        self.sequence = Int(sequence)
        self.at = at
        self.action = action
        self.actor = actor
        claimedName = json["claimedName"]?.string
        app = json["app"]?.string
        keyID = json["keyId"]?.string
        caller = json["caller"]?.string
        pseudonym = json["user"]?.string
        tokenDigest = json["tokenSHA256"]?.string
        details = Dictionary(
            (json["details"]?.object?.members ?? []).map { ($0.key, $0.value.string ?? "") }
        ) { first, _ in first }
        reserved = json["reserved"]?.string.flatMap(ReservePlace.init)
        self.before = before
        self.code = code
    }

    /// Whether a line's code is that of what it says.
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    static func isAuthentic(
        _ line: [UInt8], key: AuditKey, _ place: AuditKey.Place = .log
    ) throws(OpenSSLError) -> Bool {
        guard line.count > tailCount else { return false }
        let expected = try key.code(of: line.dropLast(tailCount), place)
        return constantTimeEqual(Array(line.suffix(tailCount)), Array("\(codeMember)\(expected)\"}".utf8))
    }
}

extension AuditRecord.ReservePlace {
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let index = Int(parts[1]) else { return nil }
        self.init(epoch: String(parts[0]), index: index)
    }
}
