import AppStoreAPI
import Testing

struct APIErrorCodeTests {
    @Test func `every number leads back to its error`() {
        for error in APIErrorCode.allCases {
            guard let code = error.code else { continue }
            #expect(APIErrorCode(code: code) == error)
        }
    }

    @Test func `every name leads back to its error and ends as Apple's names do`() {
        for error in APIErrorCode.allCases {
            #expect(APIErrorCode(name: error.name) == error)
            #expect(error.name.hasSuffix("Error"))
        }
    }

    @Test func `87 errors have a number and five have none`() {
        #expect(APIErrorCode.allCases.filter { $0.code != nil }.count == 87)
        #expect(
            Set(APIErrorCode.allCases.filter { $0.code == nil }) == [
                .advancedCommerceTransactionNotSupported, .invalidRefundPreference,
                .consumptionPercentageAutoRenewableSubscription, .consumptionPercentageOutOfRange,
                .undeliveredConsumptionPercentageNonZero,
            ])
    }

    @Test(
        arguments: [
            (4_000_006, "InvalidTransactionIdError", 400), (4_000_035, "InvalidCustomerConsentedError", 400),
            (4_000_048, "AppTransactionIdNotSupportedError", 400),
            (4_000_185, "FamilyTransactionNotSupportedError", 400),
            (4_030_004, "SubscriptionExtensionIneligibleError", 403), (4_040_010, "TransactionIdNotFoundError", 404),
            (4_290_000, "RateLimitExceededError", 429), (5_000_001, "GeneralInternalRetryableError", 500),
            (4_000_161, "InvalidImageError", 400), (4_030_019, "ImageInUseError", 403),
            (4_040_021, "RealtimeUrlNotFoundError", 404), (4_090_001, "MessageAlreadyExistsError", 409),
        ] as [(Int64, String, Int)])
    func `a number has Apple's name and status`(code: Int64, name: String, status: Int) throws {
        let error = try #require(APIErrorCode(code: code))
        #expect(error.name == name)
        #expect(error.httpStatus == status)
    }

    @Test func `an error without a number is a bad request`() {
        #expect(APIErrorCode.undeliveredConsumptionPercentageNonZero.httpStatus == 400)
    }

    @Test func `what is not listed has no error`() {
        #expect(APIErrorCode(code: 4_000_999) == nil)
        #expect(APIErrorCode(name: "InvalidCustomerConsentError") == nil)
    }

    @Test func `only what Apple marks so is retryable`() {
        #expect(
            Set(APIErrorCode.allCases.filter(\.isRetryable).compactMap(\.code)) == [
                4_040_002, 4_040_004, 4_040_006, 4_290_000, 5_000_000, 5_000_001,
            ])
    }

    @Test func `two errors are deprecated`() {
        #expect(Set(APIErrorCode.allCases.filter(\.isDeprecated).compactMap(\.code)) == [4_000_025, 4_000_043])
    }
}
