import AppStoreAPI
import Testing

struct RetryAfterTests {
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
