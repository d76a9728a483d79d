package import Domain

/// What is decided about receipts that apps send.
package struct ReceiptsConfiguration: Sendable, Equatable {
    /// Whether SHA-1 is accepted of receipts that were created after Apple had stopped using it.
    package let acceptSHA1: Bool
    /// Whether the bytes of receipts are kept.
    package let keepRaw: Bool
    /// How many users may have sent one purchase before a flag tells of it.
    package let usersPerTransaction: Int
    /// How long an upload waits for Apple.
    package let wait: Duration

    package init(
        acceptSHA1: Bool = ConfigurationDefaults.Receipts.acceptSHA1,
        keepRaw: Bool = ConfigurationDefaults.Receipts.keepRaw,
        usersPerTransaction: Int = ConfigurationDefaults.Receipts.usersPerTransaction.default,
        wait: Duration = ConfigurationDefaults.Receipts.wait.default
    ) {
        self.acceptSHA1 = acceptSHA1
        self.keepRaw = keepRaw
        self.usersPerTransaction = usersPerTransaction
        self.wait = wait
    }

    /// As services take it; what signatures are accepted is their reader's affair.
    package var policy: ReceiptPolicy {
        var policy = ReceiptPolicy()
        policy.keepsRawReceipts = keepRaw
        policy.usersPerTransaction = usersPerTransaction
        policy.wait = wait
        return policy
    }
}

extension ConfigurationParser {
    /// Reads `receipts`.
    mutating func receiptsSection() -> ReceiptsConfiguration {
        typealias Defaults = ConfigurationDefaults.Receipts
        return ReceiptsConfiguration(
            acceptSHA1: setting(["receipts", "acceptSHA1"], as: .bool, default: Defaults.acceptSHA1),
            keepRaw: setting(["receipts", "keepRaw"], as: .bool, default: Defaults.keepRaw),
            usersPerTransaction: setting(["receipts", "usersPerTransaction"], Defaults.usersPerTransaction),
            wait: setting(["receipts", "wait"], Defaults.wait))
    }
}
