import AppStoreAPI
import JSON
import Testing

struct WireModelTests {
    @Test func `a model is written in the order of its fields and without those that are nil`() {
        let request = ExtendRenewalDateRequest {
            $0.requestIdentifier = "r"
            $0.extendByDays = 90
            $0.extendReasonCode = .serviceIssueOrOutage
        }
        #expect(
            String(decoding: request.serialized(), as: UTF8.self)
                == #"{"extendByDays":90,"extendReasonCode":3,"requestIdentifier":"r"}"#)
        #expect(String(decoding: ExtendRenewalDateRequest().serialized(), as: UTF8.self) == "{}")
    }

    @Test func `models within models are read and written`() throws {
        let body = #"""
            {"environment":"Production","bundleId":"com.example","appAppleId":7,"data":[{"subscriptionGroupIdentifier":"g",
             "lastTransactions":[{"status":4,"originalTransactionId":"1","signedTransactionInfo":"t","signedRenewalInfo":"r"},
             {"status":99}]}]}
            """#
        let response = try StatusResponse(parsing: Array(body.utf8))
        let items = try #require(response.data?.first?.lastTransactions)
        #expect(items.map(\.status) == [.billingGracePeriod, SubscriptionStatus(rawValue: 99)])
        #expect(items.first?.signedRenewalInfo == "r")
        #expect(items.last?.status?.isKnown == false)
        #expect(try StatusResponse(parsing: response.serialized()) == response)
    }

    @Test func `members that no field stands for are written again, at every level`() throws {
        let body = #"{"data":[{"new":{"a":[1,null]},"lastTransactions":[]}],"zeta":1.50,"alpha":"é"}"#
        let response = try StatusResponse(parsing: Array(body.utf8))
        #expect(response.additional.keys.sorted() == ["alpha", "zeta"])
        #expect(
            String(decoding: response.serialized(), as: UTF8.self)
                == #"{"data":[{"lastTransactions":[],"new":{"a":[1,null]}}],"alpha":"é","zeta":1.50}"#)
    }

    @Test func `a name that only looks like a field's is not taken for it`() throws {
        // U+212A, the Kelvin sign, is canonically equivalent to the letter K.
        let item = try AdvancedCommerceRenewalItem(parsing: Array("{\"S\u{212A}U\":\"x\"}".utf8))
        #expect(item.sku == nil)
        #expect(item.serialized() == Array("{\"S\u{212A}U\":\"x\"}".utf8))
    }

    @Test func `an escaped name is the field's all the same`() throws {
        #expect(try ResponseBodyV2(parsing: Array(#"{"sign\u0065dPayload":"x"}"#.utf8)).signedPayload == "x")
    }

    @Test func `the fields that Apple requires are told when they are missing or of another type`() throws {
        let request = try AdvancedCommerceRequestRefundRequest(
            parsing: Array(#"{"items":"none","refundRiskingPreference":true,"requestInfo":null}"#.utf8))
        #expect(request.missingFields == ["items", "requestInfo"])
        #expect(ExtendRenewalDateRequest().missingFields.isEmpty)
    }

    @Test func `elements of another type are left out`() throws {
        let request = try MassExtendRenewalDateRequest(
            parsing: Array(#"{"storefrontCountryCodes":["USA",1,null,"DEU"]}"#.utf8))
        #expect(request.storefrontCountryCodes == ["USA", "DEU"])
    }

    @Test func `a map keeps names that are not known and is written in the order of its names`() throws {
        let body = #"{"failures":{"TIMED_OUT":2,"NEW":1,"OTHER":"many"}}"#
        let result = try PerformanceTestResultResponse(parsing: Array(body.utf8))
        #expect(result.failures == [.timedOut: 2, SendAttemptResult(rawValue: "NEW"): 1])
        #expect(String(decoding: result.serialized(), as: UTF8.self) == #"{"failures":{"NEW":1,"TIMED_OUT":2}}"#)
    }

    @Test(
        arguments: [
            ("1", 1), ("1.0", 1), ("1.5", 2), ("-0.4", 0), ("2147483647", 2_147_483_647), ("2147483648", nil),
            ("1e300", nil), ("1e-400", 0), (#""1""#, nil), ("true", nil),
        ] as [(String, Int32?)])
    func `an integer is rounded, and one out of range is passed over`(text: String, value: Int32?) throws {
        let request = try ExtendRenewalDateRequest(parsing: Array(#"{"extendByDays":\#(text)}"#.utf8))
        #expect(request.extendByDays == value)
    }
}
