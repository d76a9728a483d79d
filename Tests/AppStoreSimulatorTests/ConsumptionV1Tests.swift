import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

struct ConsumptionV1Tests {
    private static let good: JSONObject = [
        "accountTenure": 0, "appAccountToken": "", "consumptionStatus": 3, "customerConsented": true,
        "deliveryStatus": 0, "lifetimeDollarsPurchased": 7, "lifetimeDollarsRefunded": 1, "platform": 1, "playTime": 2,
        "sampleContentProvided": false, "userStatus": 4,
    ]

    private func send(
        _ changes: [(String, JSONValue?)], type: ProductType = .consumable, isAdvancedCommerce: Bool = true,
        _ fixture: SimulatorFixture
    ) async throws -> CurlResponse {
        let account = try fixture.state.createAccount(in: .sandbox).id
        let bought = try fixture.buy(by: account) {
            $0.type = type
            if isAdvancedCommerce { $0.advancedCommerceInfo = AdvancedCommerceTransactionInfo() }
        }
        var body = Self.good
        for (name, value) in changes { body[name] = value }
        return try await fixture.call(
            .sendConsumptionInformationV1(transactionId: #require(bought.transactionId)),
            body: JSONValue.object(body).serialized())
    }

    @Test(arguments: [true, false])
    func `consumables and subscriptions are taken, through Advanced Commerce or not`(isAdvancedCommerce: Bool)
        async throws
    {
        try await SimulatorFixture.with { fixture in
            for type in [ProductType.consumable, .autoRenewableSubscription] {
                let response = try await send([], type: type, isAdvancedCommerce: isAdvancedCommerce, fixture)
                #expect(response.status == 202)
            }
            #expect(fixture.state.received.requests.last?.body == .object(Self.good))
        }
    }

    @Test(arguments: [ProductType.nonConsumable, .nonRenewingSubscription])
    func `other types are refused`(type: ProductType) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send([], type: type, fixture)
            #expect(response.status == 400)
            #expect(try ErrorPayload(parsing: response.body).errorCode == 4_000_047)
        }
    }

    @Test(
        arguments: [
            ("appAccountToken", "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"), ("appAccountToken", ""),
            ("refundPreference", 0),
            ("refundPreference", 3), ("refundPreference", nil), ("deliveryStatus", 5), ("accountTenure", 7),
            ("userStatus", 0),
        ] as [(String, JSONValue?)])
    func `values at the limits are taken`(name: String, value: JSONValue?) async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            #expect(try await send([(name, value)], fixture).status == 202)
        }
    }

    @Test(
        arguments: [
            ("customerConsented", false, .invalidCustomerConsented),
            ("customerConsented", nil, .invalidCustomerConsented),
            ("accountTenure", 8, .invalidAccountTenure), ("accountTenure", nil, .invalidAccountTenure),
            ("appAccountToken", "x", .invalidAppAccountToken), ("appAccountToken", nil, .invalidAppAccountToken),
            ("consumptionStatus", 4, .invalidConsumptionStatus), ("consumptionStatus", -1, .invalidConsumptionStatus),
            ("deliveryStatus", 6, .invalidDeliveryStatus), ("deliveryStatus", "DELIVERED", .invalidDeliveryStatus),
            ("lifetimeDollarsPurchased", 8, .invalidLifetimeDollarsPurchased),
            ("lifetimeDollarsRefunded", 8, .invalidLifetimeDollarsRefunded), ("platform", 3, .invalidPlatform),
            ("playTime", 8, .invalidPlayTime), ("playTime", 1.5, .invalidPlayTime),
            ("sampleContentProvided", 0, .invalidSampleContentProvided), ("userStatus", 5, .invalidUserStatus),
        ] as [(String, JSONValue?, APIErrorCode)])
    func `a wrong field has an error of its own`(name: String, value: JSONValue?, error: APIErrorCode) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send([(name, value)], fixture)
            #expect(response.status == 400)
            #expect(try ErrorPayload(parsing: response.body).errorCode == error.code)
        }
    }

    @Test func `a refund preference that is not Apple's is refused by name`() async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send([("refundPreference", 4)], fixture)
            let payload = try ErrorPayload(parsing: response.body)
            #expect(payload.errorCode == 4_000_000)
            #expect(payload.errorMessage?.hasPrefix("InvalidRefundPreferenceError:") == true)
        }
    }
}
