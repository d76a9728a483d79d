package import Foundation

/// The codes of Apple's version 1 that usage facts come to; 0 is Apple's "undeclared", for what is not known.
///
/// The buckets are those of Apple's constants. Which one an exact boundary belongs to, Apple's pages do not say: here each
/// begins with its lower boundary, as those of the amounts do, and only what Apple calls "over" begins behind it.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
package struct UsageCodes: Sendable, Equatable {
    package let accountTenure: Int32
    package let consumptionStatus: Int32
    /// Nil where it is not known: Apple has no code for that.
    package let deliveryStatus: Int32?
    package let lifetimeDollarsPurchased: Int32
    package let lifetimeDollarsRefunded: Int32
    package let platform: Int32
    package let playTime: Int32
    package let userStatus: Int32

    /// The codes of facts; `now`: when the account's age is told.
    package init(_ facts: UsageFacts, at now: Date) {
        accountTenure =
            facts.accountCreatedAt.map { Self.tenure(days: Int64(now.timeIntervalSince($0) / 86_400)) } ?? 0
        consumptionStatus = facts.consumptionPercentage.map(Self.consumption) ?? 0
        deliveryStatus = facts.deliveryStatus.map(Self.delivery)
        lifetimeDollarsPurchased = facts.lifetimeCentsPurchased.map(Self.amount) ?? 0
        lifetimeDollarsRefunded = facts.lifetimeCentsRefunded.map(Self.amount) ?? 0
        platform = facts.platform ?? 0
        playTime = facts.playTimeMinutes.map(Self.play) ?? 0
        userStatus = facts.userStatus ?? 0
    }

    /// Whole days.
    private static func tenure(days: Int64) -> Int32 { bucket(days, [3, 10, 30, 90, 180, 366]) }

    /// Up to sixteen days, and over them.
    private static func play(minutes: Int64) -> Int32 { bucket(minutes, [5, 60, 360, 1440, 5760, 23_041]) }

    private static func amount(cents: Int64) -> Int32 {
        bucket(cents, [1, 5000, 10_000, 50_000, 100_000, 200_000])
    }

    private static func consumption(percentage: Int32) -> Int32 {
        switch percentage {
        case ...0: 1
        case ConsumptionRules.wholePercentage...: 3
        default: 2
        }
    }

    private static func delivery(_ status: ConsumptionV2.DeliveryStatus) -> Int32 {
        switch status {
        case .delivered: 0
        case .undeliveredQualityIssue: 1
        case .undeliveredWrongItem: 2
        case .undeliveredServerOutage: 3
        case .undeliveredOther: 5
        }
    }

    /// The code of the bucket, the first being 1; `bounds`: where the second and each later one begins.
    private static func bucket(_ value: Int64, _ bounds: [Int64]) -> Int32 {
        Int32(1 + bounds.count { value >= $0 })
    }
}
