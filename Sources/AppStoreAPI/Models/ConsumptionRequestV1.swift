import JSON

/// The body of Send Consumption Information V1, which Apple keeps for purchases made through its Advanced Commerce API.
///
/// The integers are Apple's codes, not amounts; 0 means undeclared wherever that can be said. All are required but `refundPreference`.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
package struct ConsumptionRequestV1: Sendable, Hashable {
    /// 0 to 7: age of the customer's account.
    package var accountTenure: Int32
    /// The UUID in the transaction, or the empty string.
    package var appAccountToken: String
    /// 0 to 3: undeclared, not, partly, fully consumed.
    package var consumptionStatus: Int32
    /// Apple refuses anything but true.
    package var customerConsented: Bool
    /// 0 to 5: 0 delivered and working, otherwise why not.
    package var deliveryStatus: Int32
    /// 0 to 7: what the customer has spent in all.
    package var lifetimeDollarsPurchased: Int32
    /// 0 to 7: what the customer got back in all.
    package var lifetimeDollarsRefunded: Int32
    /// 0 to 2: undeclared, Apple, other.
    package var platform: Int32
    /// 0 to 7: how long the customer has used the app.
    package var playTime: Int32
    /// 0 to 3: undeclared, grant, decline, no preference.
    package var refundPreference: Int32?
    /// Whether a free sample, a trial or a description of the content came before the purchase.
    package var sampleContentProvided: Bool
    /// 0 to 4: undeclared, active, suspended, terminated, limited.
    package var userStatus: Int32

    package init(
        accountTenure: Int32, appAccountToken: String, consumptionStatus: Int32, customerConsented: Bool,
        deliveryStatus: Int32, lifetimeDollarsPurchased: Int32, lifetimeDollarsRefunded: Int32, platform: Int32,
        playTime: Int32, refundPreference: Int32? = nil, sampleContentProvided: Bool, userStatus: Int32
    ) {
        self.accountTenure = accountTenure
        self.appAccountToken = appAccountToken
        self.consumptionStatus = consumptionStatus
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.lifetimeDollarsPurchased = lifetimeDollarsPurchased
        self.lifetimeDollarsRefunded = lifetimeDollarsRefunded
        self.platform = platform
        self.playTime = playTime
        self.refundPreference = refundPreference
        self.sampleContentProvided = sampleContentProvided
        self.userStatus = userStatus
    }

    /// The body; equal requests give the same bytes.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            writer.member("accountTenure", accountTenure)
            writer.member("appAccountToken", appAccountToken)
            writer.member("consumptionStatus", consumptionStatus)
            writer.member("customerConsented", customerConsented)
            writer.member("deliveryStatus", deliveryStatus)
            writer.member("lifetimeDollarsPurchased", lifetimeDollarsPurchased)
            writer.member("lifetimeDollarsRefunded", lifetimeDollarsRefunded)
            writer.member("platform", platform)
            writer.member("playTime", playTime)
            writer.memberIfPresent("refundPreference", refundPreference)
            writer.member("sampleContentProvided", sampleContentProvided)
            writer.member("userStatus", userStatus)
        }
        return writer.bytes
    }
}
