import Foundation

/// How a list is called whose later pages any copy of the daemon may be asked for.
///
/// Lists are kept by the copy that has read them. Another one reads the list anew, and goes on where the page before ended if it finds the same
/// purchases in the same order; else the list is gone, as one whose time is over. The name stands in the page token, whose code
/// nobody can make.
struct SharedSnapshotName: Sendable, Equatable {
    private static let separator: Character = "."

    let id: String
    let readAt: Date
    /// Of the purchases, in their order: FNV-1a of 64 bits, which only has to tell apart what Apple has changed.
    let digest: UInt64

    init(id: String, of list: UserPurchases) {
        self.id = id
        readAt = Date(milliseconds: list.readAt.milliseconds)
        digest = Self.digest(of: list)
    }

    /// Nil for the name of a list that one process keeps alone.
    init?(_ text: String) {
        let parts = text.split(separator: Self.separator, omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = Int64(parts[1]), let digest = UInt64(parts[2], radix: 16) else {
            return nil
        }
        id = String(parts[0])
        readAt = Date(milliseconds: milliseconds)
        self.digest = digest
    }

    var text: String {
        [id, "\(readAt.milliseconds)", String(digest, radix: 16)].joined(separator: String(Self.separator))
    }

    /// Whether a list that was read anew may stand for the one of this name.
    func isOf(_ list: UserPurchases) -> Bool { Self.digest(of: list) == digest }

    private static func digest(of list: UserPurchases) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for transaction in list.transactions {
            for byte in "\(transaction.environment.rawValue)/\(transaction.transactionID)\n".utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return hash
    }
}
