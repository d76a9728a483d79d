import AppStoreAPI
import JOSE

/// A place in an answer of Get Notification History, good for the same app and body and for a day.
struct PaginationToken: Sendable {
    /// How long a token is good, in milliseconds; Apple only says that it expires.
    static let lifetime: Int64 = 86_400_000

    let list: String
    /// When it was given out, UNIX milliseconds.
    let date: Int64
    /// The last notification of the page.
    let number: Int

    init(list: String, date: Int64, number: Int) {
        self.list = list
        self.date = date
        self.number = number
    }

    /// Reads a token.
    ///
    /// - Throws: 4000014 unless it is one of this list, 4000017 if it is too old.
    init(_ text: String, of list: String, now: Int64) throws(Refusal) {
        let parts = (Base64URL.decode(text) ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count == 3, String(decoding: parts[2], as: UTF8.self) == list,
            let date = Int64(String(decoding: parts[0], as: UTF8.self)),
            let number = Int(String(decoding: parts[1], as: UTF8.self))
        else { throw .error(.invalidPaginationToken) }
        guard now - date < Self.lifetime else { throw .error(.paginationTokenExpired) }
        self.init(list: list, date: date, number: number)
    }

    var text: String { Base64URL.encode(Array("\(date) \(number) \(list)".utf8)) }
}
