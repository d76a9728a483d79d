package import Foundation

/// What a service knows of the use of a purchase and of the customer who made it; nil whatever it does not know.
package struct UsageFacts: Sendable, Equatable {
    /// A hundred million minutes: 190 years.
    static let maximumMinutes: Int64 = 100_000_000
    /// Ten billion dollars.
    static let maximumCents: Int64 = 1_000_000_000_000

    package var deliveryStatus: ConsumptionV2.DeliveryStatus?
    /// In milliunits: 100,000 is 100 %.
    package var consumptionPercentage: Int32?
    package var sampleContentProvided: Bool?
    /// When the customer's account with the company was made.
    package var accountCreatedAt: Date?
    /// How long the customer has used the app.
    package var playTimeMinutes: Int64?
    /// What the customer has spent in the app on all platforms, in cents of the US dollar.
    package var lifetimeCentsPurchased: Int64?
    /// What the customer got back of that, in cents of the US dollar.
    package var lifetimeCentsRefunded: Int64?
    /// Apple's code of version 1: 1 an Apple platform, 2 another one.
    package var platform: Int32?
    /// Apple's code of version 1: 1 active, 2 suspended, 3 terminated, 4 limited access.
    package var userStatus: Int32?

    package init() {}

    /// Whether nothing is known.
    package var isEmpty: Bool { self == UsageFacts() }

    /// Reads the facts of a request; every rule that one breaks is noted.
    ///
    /// `accountCreatedAt`: as it was read; `now`: the time of day.
    package init(_ fields: inout FieldReader, accountCreatedAt: Date?, at now: Date) {
        deliveryStatus = fields.choice(
            "deliveryStatus", ConsumptionV2.DeliveryStatus.self, isRequired: false,
            ConsumptionRules.AppleError.deliveryStatus)
        consumptionPercentage = fields.integer(
            "consumptionPercentage", from: 0...ConsumptionRules.wholePercentage, isRequired: false,
            ConsumptionRules.AppleError.percentageOutOfRange)
        sampleContentProvided = fields.boolean(
            "sampleContentProvided", isRequired: false, ConsumptionRules.AppleError.sampleContentProvided)
        self.accountCreatedAt = accountCreatedAt
        playTimeMinutes = fields.integer("playTimeMinutes", from: 0...Self.maximumMinutes, isRequired: false)
        lifetimeCentsPurchased = fields.integer(
            "lifetimeCentsPurchased", from: 0...Self.maximumCents, isRequired: false)
        lifetimeCentsRefunded = fields.integer(
            "lifetimeCentsRefunded", from: 0...Self.maximumCents, isRequired: false)
        // 0, Apple's "undeclared", says nothing: who does not know leaves the field out.
        platform = fields.integer("platform", from: 1...2, isRequired: false)
        userStatus = fields.integer("userStatus", from: 1...4, isRequired: false)
        if let deliveryStatus, deliveryStatus != .delivered, let consumptionPercentage, consumptionPercentage != 0 {
            fields.note(
                "consumptionPercentage", "undelivered",
                "`consumptionPercentage` must be 0 or left out when `deliveryStatus` is not `DELIVERED`.",
                ConsumptionRules.AppleError.undeliveredPercentage)
        }
        if let accountCreatedAt, accountCreatedAt > now.addingTimeInterval(FactRules.clockTolerance) {
            fields.note(
                "accountCreatedAt", "future",
                "`accountCreatedAt` lies in the future; give the time in UTC or with its offset.")
        }
        if isEmpty, fields.isValidSoFar {
            fields.note(
                "usage", "required",
                "Nothing is reported; give at least one of the facts, such as `consumptionPercentage`, and leave out what is not known."
            )
        }
    }
}
