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
}
