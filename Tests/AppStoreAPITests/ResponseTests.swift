import AppStoreAPI
import JSON
import Testing

struct ResponseTests {
    @Test func `a transaction answer is read past members that are not known`() throws {
        let response = try TransactionInfoResponse(parsing: Array(#"{"new":[1],"signedTransactionInfo":"a.b.c"}"#.utf8))
        #expect(response.signedTransactionInfo == "a.b.c")
    }

    @Test func `a history page is read`() throws {
        let body = #"""
            {"revision":"r","hasMore":true,"bundleId":"com.example","appAppleId":1234,"environment":"Production",
             "signedTransactions":["a","b"],"later":{}}
            """#
        var expected = HistoryResponse(
            revision: "r", hasMore: true, bundleId: "com.example", appAppleId: 1234, environment: .production,
            signedTransactions: ["a", "b"])
        expected.additional = ["later": [:]]
        #expect(try HistoryResponse(parsing: Array(body.utf8)) == expected)
    }

    @Test func `a history page without members is empty, not an error`() throws {
        let response = try HistoryResponse(parsing: Array("{}".utf8))
        #expect(response.signedTransactions == nil)
        #expect(response.hasMore == nil)
    }

    @Test func `an environment that is not known keeps its name`() throws {
        let response = try HistoryResponse(parsing: Array(#"{"environment":"Moon"}"#.utf8))
        #expect(response.environment?.rawValue == "Moon")
    }

    @Test func `a page reads back what was written`() throws {
        let history = HistoryResponse(
            revision: "r", hasMore: false, bundleId: "b", appAppleId: nil, environment: .sandbox, signedTransactions: []
        )
        #expect(try HistoryResponse(parsing: history.serialized()) == history)
        let refunds = RefundHistoryResponse(signedTransactions: ["x"], revision: "r", hasMore: true)
        #expect(try RefundHistoryResponse(parsing: refunds.serialized()) == refunds)
        let info = TransactionInfoResponse(signedTransactionInfo: "x")
        #expect(try TransactionInfoResponse(parsing: info.serialized()) == info)
    }

    @Test func `an error body is read, a number unknown to us included`() throws {
        let payload = try ErrorPayload(parsing: Array(#"{"errorCode":4009999,"errorMessage":"New."}"#.utf8))
        #expect(payload == ErrorPayload(errorCode: 4_009_999, errorMessage: "New."))
        #expect(try ErrorPayload(parsing: payload.serialized()) == payload)
    }

    @Test(arguments: ["", "[]", "Unauthenticated", #"{"errorCode":1"#])
    func `what is not a JSON object is no error body`(body: String) {
        #expect(throws: JSONError.self) { try ErrorPayload(parsing: Array(body.utf8)) }
    }
}
