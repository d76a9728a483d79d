package import AppStoreAPI

/// What Apple says about a refund.
package struct Refund: Sendable, Hashable {
    /// 100 % in milliunits.
    package static let whole: Int32 = 100_000

    package var reason: RevocationReason
    /// In milliunits: ``whole`` is a full refund, less a prorated one.
    package var percentage: Int32
    /// UNIX milliseconds; nil stands for now.
    package var date: Int64?

    package init(reason: RevocationReason = .otherReason, percentage: Int32 = whole, date: Int64? = nil) {
        self.reason = reason
        self.percentage = percentage
        self.date = date
    }

    func checkedPercentage() throws(ControlError) -> Int32 {
        guard 1...Self.whole ~= percentage else { throw .invalid("percentage must be 1 to \(Self.whole) milliunits") }
        return percentage
    }
}
