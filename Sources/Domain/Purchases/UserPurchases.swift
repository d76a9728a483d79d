package import Foundation

/// Which of a user's lists is asked for.
package enum UserList: Sendable, Hashable {
    /// The purchases that Apple refunded, newest refund first.
    case refunds
    /// All purchases that the filter admits, newest purchase first.
    case transactions(HistoryFilter)

    /// What the list is called where a part of it is missing.
    var part: AccountGap.Part {
        switch self {
        case .refunds: .refunds
        case .transactions: .transactions
        }
    }

    /// When an entry happened, as far as the list's order goes.
    func date(of transaction: Transaction) -> Date {
        switch self {
        case .refunds: transaction.revocationDate ?? transaction.purchaseDate
        case .transactions: transaction.purchaseDate
        }
    }
}

/// A user's list as it was read: sorted, without the purchases of others.
package struct UserPurchases: Sendable {
    package let transactions: [Transaction]
    /// How many purchases of the same Apple Accounts belong to other users and were left out.
    package let othersOmitted: Int
    /// Why the list is cut short, if it is.
    package let incompleteReason: String?
    /// The parts that could not be read; empty unless the caller asked for a partial answer.
    package let gaps: [AccountGap]
    /// When Apple was read.
    package let readAt: Date

    package init(
        transactions: [Transaction], othersOmitted: Int, incompleteReason: String?, gaps: [AccountGap],
        readAt: Date
    ) {
        self.transactions = transactions
        self.othersOmitted = othersOmitted
        self.incompleteReason = incompleteReason
        self.gaps = gaps
        self.readAt = readAt
    }
}

/// One page of a user's list.
package struct UserPurchasesPage: Sendable {
    package let transactions: ArraySlice<Transaction>
    package let list: UserPurchases
    package let nextPageToken: String?
}
