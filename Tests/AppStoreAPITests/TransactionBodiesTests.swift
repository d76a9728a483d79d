import AppStoreAPI
import JSON
import Testing

struct TransactionBodiesTests {
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
}
