import Testing

@testable import Daemon

/// What `purser doctor` makes of an answer: what it cannot judge, it says.
struct TokenJudgementTests {
    @Test(
        arguments: [
            (401, "", .refused), (404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#, .accepted),
            (400, #"{"errorCode":4000006,"errorMessage":"Invalid transaction id."}"#, .accepted),
            (404, #"{"errorCode":4040003}"#, .unknownApp(code: 4_040_003)),
            (400, #"{"errorCode":4000002}"#, .unknownApp(code: 4_000_002)),
            (404, #"{"errorCode":4040004}"#, .unclear(status: 404, code: 4_040_004)),
            (429, #"{"errorCode":4290000}"#, .unclear(status: 429, code: 4_290_000)),
            (500, #"{"errorCode":5000000}"#, .unclear(status: 500, code: 5_000_000)),
            (404, "<html>", .unclear(status: 404, code: nil)), (200, "{}", .unclear(status: 200, code: nil)),
        ] as [(Int, String, TokenJudgement)])
    func `what Apple's answer says of a token`(status: Int, body: String, expected: TokenJudgement) {
        #expect(TokenJudgement(status: status, body: Array(body.utf8)) == expected)
    }
}
