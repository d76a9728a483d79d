import Domain
import Foundation
import Testing

@testable import HTTPAPI

struct TimestampTests {
    @Test func `every whole millisecond is written as it is, and read again`() {
        for millisecond in 0..<1000 {
            let date = Date(milliseconds: 1_700_000_000_000 + Int64(millisecond))
            let text = Timestamp.text(date)
            let digits = String(String(1000 + millisecond).dropFirst())
            #expect(text == "2023-11-14T22:13:20.\(digits)Z")
            #expect(Timestamp.date(text) == date)
        }
    }

    @Test(arguments: [
        "2024-01-01T12:99:00Z", "2024-01-01T24:00:00Z", "2024-01-01T12:00:61Z", "2024-13-01T12:00:00Z",
        "2024-00-10T12:00:00Z", "2024-02-30T12:00:00Z", "2023-02-29T12:00:00Z", "2024-01-00T12:00:00Z",
        "2024-01-01T12:00:00+24:00", "2024-01-01T12:00:00+01:60", "2024-01-01", "", "x",
        "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01",
    ])
    func `what is no time is none`(text: String) {
        #expect(Timestamp.date(text) == nil)
    }

    @Test(arguments: [
        ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("2024-01-01T01:00:00+01:00", 1_704_067_200_000),
        ("2023-12-31T14:30:00.5-09:30", 1_704_067_200_500),
    ])
    func `leap days, offsets and fractions are read`(text: String, milliseconds: Int64) {
        #expect(Timestamp.date(text) == Date(milliseconds: milliseconds))
    }
}
