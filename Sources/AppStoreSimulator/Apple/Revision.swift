import AppStoreAPI
import JOSE

/// A place in a customer's history, as the text that Apple calls a revision.
///
/// It names the list that it belongs to, so that one of another customer or query is known for what it is.
struct Revision: Sendable, Equatable {
    /// How far the list has been read.
    struct Position: Sendable, Comparable {
        /// What the list is ordered by.
        let key: Int64
        /// Tells apart what has the same key.
        let modification: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.key, left.modification) < (right.key, right.modification)
        }
    }

    let list: String
    let position: Position

    init(list: String, position: Position) {
        self.list = list
        self.position = position
    }

    /// Reads a revision.
    ///
    /// - Throws: Apple's error 4000005 unless it is one of this list.
    init(_ text: String, of list: String) throws(Refusal) {
        let parts = (Base64URL.decode(text) ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count == 3, String(decoding: parts[2], as: UTF8.self) == list,
            let key = Int64(String(decoding: parts[0], as: UTF8.self)),
            let modification = Int(String(decoding: parts[1], as: UTF8.self))
        else { throw .error(.invalidRequestRevision) }
        self.init(list: list, position: Position(key: key, modification: modification))
    }

    var text: String { Base64URL.encode(Array("\(position.key) \(position.modification) \(list)".utf8)) }
}
