import Foundation
import Synchronization

/// Keeps lists that were too long for one answer, so that every page shows the same state.
///
/// Bounded in time (a lifetime from the first page on) and in bytes: when a new list does not fit, the oldest ones go.
/// Purpose: stable paging of user lists. Key: a random id. A lost entry is a 410, never a wrong answer.
package final class SnapshotCache: Sendable {
    private struct Entry {
        let app: String
        let list: UserPurchases
        let expires: ContinuousClock.Instant
        let bytes: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Ids in the order of their creation, which is also that of their expiry.
        var order: [String] = []
        var bytes = 0
    }

    let lifetime: Duration
    private let maximumBytes: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    package init(
        lifetime: Duration, maximumBytes: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.lifetime = lifetime
        self.maximumBytes = maximumBytes
        self.now = now
    }

    /// Keeps a list of an app's user under an id that nobody else uses, or under which the same list is kept already.
    ///
    /// - Throws: `payloadTooLarge` when the list alone exceeds the cache.
    func insert(_ list: UserPurchases, id: String, app: String) throws(ServiceError) {
        let bytes = list.transactions.reduce(0) { $0 + $1.payload.count + $1.signed.utf8.count }
        guard bytes <= maximumBytes else {
            throw ServiceError(
                .payloadTooLarge,
                "This list is too large to be paged here; narrow it with filters, or read it by transaction id.")
        }
        let instant = now()
        state.withLock { state in
            Self.drop(from: &state) { entry, _ in entry.expires <= instant }
            guard state.entries[id] == nil else { return }
            Self.drop(from: &state) { [maximumBytes] _, held in held + bytes > maximumBytes }
            state.entries[id] = Entry(app: app, list: list, expires: instant + lifetime, bytes: bytes)
            state.order.append(id)
            state.bytes += bytes
        }
    }

    /// The list kept under an id; nil when it is gone.
    func list(id: String) -> UserPurchases? {
        let instant = now()
        return state.withLock { state in
            guard let entry = state.entries[id], entry.expires > instant else { return nil }
            return entry.list
        }
    }

    /// Drops every list of an app, because Apple has said that what they show has changed.
    func drop(app: String) {
        state.withLock { state in
            for (id, entry) in state.entries where entry.app == app {
                state.entries[id] = nil
                state.bytes -= entry.bytes
            }
            state.order.removeAll { state.entries[$0] == nil }
        }
    }

    /// Drops the oldest entries as long as a condition holds for them.
    private static func drop(from state: inout State, while condition: (_ entry: Entry, _ bytesHeld: Int) -> Bool) {
        var dropped = 0
        for id in state.order {
            guard let entry = state.entries[id], condition(entry, state.bytes) else { break }
            state.entries[id] = nil
            state.bytes -= entry.bytes
            dropped += 1
        }
        state.order.removeFirst(dropped)
    }
}

/// Says where the next page of a list begins: which snapshot, which position, and for which query.
///
/// On the wire it is `base64url(authentication code ‖ content)`: a token that was altered is told apart from one whose
/// snapshot is gone. The key of the code outlives restarts.
struct PageToken: Sendable, Equatable {
    let snapshotID: String
    let offset: Int
    let pageSize: Int
    /// What was asked: app, user, list and filters, in one canonical text.
    let query: String
}

/// How much one page may show.
package enum PageLimit {
    /// The most cases, deliveries or notifications, which come from the store a page at a time.
    package static let storedRows = 200
}

/// Writes and reads page tokens.
///
/// Those of snapshots say all that the next page needs. Those of lists that are kept in the store say only behind which entry
/// the page begins; the query belongs to their authentication code, so that they are of no use with another one.
package struct PageTokenCoder: Sendable {
    /// The longest token accepted, in characters.
    static let maximumLength = 4096
    /// HMAC-SHA-256, in bytes.
    private static let codeLength = 32
    private static let separator: Character = "\u{1F}"

    private let authenticationCode: @Sendable ([UInt8]) -> [UInt8]
    private let encode: @Sendable ([UInt8]) -> String
    private let decode: @Sendable (String) -> [UInt8]?

    /// - Parameters:
    ///   - authenticationCode: HMAC-SHA-256 under a key that only this installation has (RFC 2104).
    ///   - encode: base64url (RFC 4648 section 5).
    ///   - decode: its strict inverse.
    package init(
        authenticationCode: @escaping @Sendable ([UInt8]) -> [UInt8],
        encode: @escaping @Sendable ([UInt8]) -> String, decode: @escaping @Sendable (String) -> [UInt8]?
    ) {
        self.authenticationCode = authenticationCode
        self.encode = encode
        self.decode = decode
    }

    func text(_ token: PageToken) -> String {
        let separator = String(Self.separator)
        let content = Array(
            [token.snapshotID, String(token.offset), String(token.pageSize), token.query]
                .joined(separator: separator).utf8)
        return encode(authenticationCode(content) + content)
    }

    /// - Throws: `pageTokenInvalid`.
    func token(_ text: String) throws(ServiceError) -> PageToken {
        let invalid = ServiceError(
            .pageTokenInvalid, "This page token was not issued here or has been altered; start from the first page.")
        guard let (code, content) = split(text), code.isEqualInConstantTime(to: authenticationCode(content)) else {
            throw invalid
        }
        let parts = String(decoding: content, as: UTF8.self)
            .split(separator: Self.separator, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let offset = Int(parts[1]), let pageSize = Int(parts[2]) else { throw invalid }
        return PageToken(
            snapshotID: String(parts[0]), offset: offset, pageSize: pageSize, query: String(parts[3]))
    }

    /// The token of the page behind an entry of a list.
    ///
    /// `position`: names the entry; `query`: everything that makes two requests the same list.
    package func text(position: String, query: String) -> String {
        let content = Array(position.utf8)
        return encode(code(of: content, query) + content)
    }

    /// The entry behind which the page of a token begins.
    ///
    /// - Throws: `pageTokenInvalid` when it was not issued here, has been altered or belongs to another query.
    package func position(_ text: String, query: String) throws(ServiceError) -> String {
        guard let (code, content) = split(text), code.isEqualInConstantTime(to: self.code(of: content, query)) else {
            throw ServiceError(
                .pageTokenInvalid,
                "This page token was not issued here for this query; repeat the query that it came from, or start from the first page."
            )
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Begins unlike the content of any snapshot's token, whose first part is an id.
    private func code(of position: [UInt8], _ query: String) -> [UInt8] {
        authenticationCode(Array("position:\(position.count):".utf8) + position + Array(query.utf8))
    }

    private func split(_ text: String) -> (code: [UInt8], content: [UInt8])? {
        guard text.utf8.count <= Self.maximumLength, let bytes = decode(text), bytes.count > Self.codeLength else {
            return nil
        }
        return (Array(bytes[..<Self.codeLength]), Array(bytes[Self.codeLength...]))
    }
}

extension [UInt8] {
    /// Compares authentication codes in a time that depends on their length alone, so that it tells nothing about how close a
    /// guess was.
    func isEqualInConstantTime(to other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in indices { difference |= self[index] ^ other[index] }
        return difference == 0
    }
}
