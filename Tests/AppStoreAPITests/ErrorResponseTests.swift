import AppStoreAPI
import JSON
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

    // MARK: Held against the data, both ways

    @Test func `every error that Apple documents is there, and no other`() throws {
        #expect(try Set(ContractData.errors().keys) == Set(APIErrorCode.allCases.map(\.name)))
    }

    @Test func `an error has Apple's number and properties`() throws {
        let documented = try ContractData.errors()
        for error in APIErrorCode.allCases {
            let facts = try #require(documented[error.name]?.object, "\(error)")
            #expect(facts["code"]?.int64 == error.code, "\(error)")
            #expect(facts["retryable"]?.bool == error.isRetryable, "\(error)")
            #expect(facts["deprecated"]?.bool == error.isDeprecated, "\(error)")
        }
    }
}

struct ErrorResponseTests {
    @Test func `an error body is read, a number unknown to us included`() throws {
        let payload = try ErrorPayload(parsing: Array(#"{"errorCode":4009999,"errorMessage":"New."}"#.utf8))
        #expect(payload == ErrorPayload(errorCode: 4_009_999, errorMessage: "New."))
        #expect(try ErrorPayload(parsing: payload.serialized()) == payload)
    }

    @Test(arguments: ["", "[]", "Unauthenticated", #"{"errorCode":1"#])
    func `what is not a JSON object is no error body`(body: String) {
        #expect(throws: JSONError.self) { try ErrorPayload(parsing: Array(body.utf8)) }
    }

    // MARK: Retry-After

    @Test(arguments: ["1698148900000", " 1698148900000\t"])
    func `the header is an absolute time in milliseconds`(value: String) throws {
        let retryAfter = try #require(RetryAfter(headerValue: value))
        #expect(retryAfter.millisecondsSince1970 == 1_698_148_900_000)
        #expect(retryAfter.headerValue == "1698148900000")
    }

    @Test(arguments: [
        "", " ", "soon", "-5", "+5", "12.5", "1 2", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "\u{0661}",
    ])
    func `anything but digits is no time`(value: String) {
        #expect(RetryAfter(headerValue: value) == nil)
    }
}
