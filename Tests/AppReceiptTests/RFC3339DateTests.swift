import Foundation
import Testing

@testable import AppReceipt

struct RFC3339DateTests {
    private func parse(_ text: String) -> Double? {
        let bytes = Array("<\(text)>".utf8)
        return RFC3339Date.parse(bytes, 1..<(bytes.count - 1))?.timeIntervalSince1970
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2013-08-01T07:00:00Z", 1_375_340_400), ("2000-02-29T23:59:59Z", 951_868_799),
        ("4001-01-01T00:00:00Z", 64_092_211_200), ("1969-12-31T23:59:59Z", -1), ("2024-12-31T23:59:60Z", 1_735_689_600),
        ("2013-08-01t07:00:00z", 1_375_340_400), ("2013-08-01T09:30:00+02:30", 1_375_340_400),
        ("2013-08-01T04:00:00-0300", 1_375_340_400), ("2013-08-01T07:00:00.25Z", 1_375_340_400.25),
        ("0000-03-01T00:00:00Z", -62_162_035_200),
    ])
    func `times are read`(text: String, seconds: Double) {
        #expect(parse(text) == seconds)
    }

    @Test(arguments: [
        "", "2013-08-01", "2013-08-01T07:00:00", "2013-08-01 07:00:00Z", "2013-13-01T07:00:00Z",
        "2013-00-01T07:00:00Z", "2013-02-29T07:00:00Z", "1900-02-29T07:00:00Z", "2013-08-00T07:00:00Z",
        "2013-04-31T07:00:00Z", "2013-08-01T24:00:00Z", "2013-08-01T07:60:00Z", "2013-08-01T07:00:61Z",
        "2013-08-01T07:00:00.Z", "2013-08-01T07:00:00Zz", "2013-08-01T07:00:00+24:00", "2013-08-01T07:00:00+02:60",
        "13-08-01T07:00:00Z", "2013-08-01T07:00:0", "２013-08-01T07:00:00Z", "2013-08-01T07:00:00+0",
    ])
    func `anything else is no time`(text: String) {
        #expect(parse(text) == nil)
    }

    @Test func `every day of four centuries is the day after the one before`() throws {
        var expected = -11_676_096_000.0
        for year in 1600..<2000 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let seconds = parse(String(format: "%04d-%02d-%02dT00:00:00Z", year, month, day)) else {
                        continue
                    }
                    guard seconds == expected else {
                        Issue.record("\(year)-\(month)-\(day) is \(seconds), not \(expected)")
                        return
                    }
                    expected += 86_400
                }
            }
        }
        #expect(expected == 946_684_800)
    }
}
