import Foundation
import Testing

@testable import Daemon

/// RFC 4180, strictly, whatever pieces a file comes in.
struct CSVReaderTests {
    /// What a text gives, in pieces of some length: `line: fields`, or `line! ` and the fault.
    private func read(_ bytes: [UInt8], pieces: Int = 1 << 16, maximumBytes: Int = 64) -> [String] {
        var reader = CSVReader(maximumBytes: maximumBytes)
        var records: [ImportRecord<[String]>] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.read(bytes[start..<min(start + pieces, bytes.count)], into: &records)
        }
        reader.finish(into: &records)
        return records.map { record in
            switch record.content {
            case .success(let fields): "\(record.line): \(fields.joined(separator: "|"))"
            case .failure(let problem): "\(record.line)! \(problem.message)"
            }
        }
    }

    private static let sound: [(String, [String])] = [
        ("", []), ("\n\r\n", []), ("a", ["1: a"]), ("a,b\n", ["1: a|b"]), ("a,b\r\nc,d", ["1: a|b", "2: c|d"]),
        (",\n", ["1: |"]), ("a,\n", ["1: a|"]), (",b", ["1: |b"]), ("\"a\",\"b\"\r\n", ["1: a|b"]),
        ("\"a,b\",c", ["1: a,b|c"]), ("\"a\"\"b\"", ["1: a\"b"]), ("\"\"\"\"", ["1: \""]), ("\"\",\"\"", ["1: |"]),
        ("\"a\nb\",c\nd,e", ["1: a\nb|c", "3: d|e"]), ("\"a\r\nb\"\r\nc", ["1: a\r\nb", "3: c"]),
        ("a\n\nb", ["1: a", "3: b"]), (" a , b ", ["1:  a | b "]), ("ä,ü\n", ["1: ä|ü"]),
        ("a\u{0}b,c", ["1: a\u{0}b|c"]),
    ]

    @Test(arguments: sound)
    func `fields, quotes and line ends are read`(text: String, expected: [String]) {
        let bytes = Array(text.utf8)
        for pieces in 1...max(bytes.count, 1) { #expect(read(bytes, pieces: pieces) == expected) }
    }

    private static let faults: [(String, [String])] = [
        ("a\"b\nc", ["1! The line cannot be read: a quote stands within a field that is not in quotes.", "2: c"]),
        (
            "\"a\"b\nc",
            [
                "1! The line cannot be read: text follows a closing quote; a quote within a quoted field is written twice.",
                "2: c",
            ]
        ),
        (
            "a\rb\nc",
            [
                "1! The line cannot be read: a carriage return stands without a line feed; put the field in quotes.",
                "2: c",
            ]
        ),
        ("a\n\"b\nc", ["1: a", "2! The line cannot be read: the quote that line 2 opens is never closed."]),
    ]

    @Test(arguments: faults)
    func `a fault is told with its line, and reading goes on behind it`(text: String, expected: [String]) {
        let bytes = Array(text.utf8)
        for pieces in 1...bytes.count { #expect(read(bytes, pieces: pieces) == expected) }
    }

    @Test func `what is not UTF-8 is repaired by nobody`() {
        for bytes: [UInt8] in [[0xFF], [0x61, 0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] {
            #expect(read(bytes + Array(",a\nb".utf8)) == ["1! The line cannot be read: it is not UTF-8.", "2: b"])
        }
    }

    @Test func `a record has a bound, however it is written`() {
        let exact = String(repeating: "x", count: 62)
        #expect(read(Array("\(exact)\ny".utf8), maximumBytes: 63) == ["1: \(exact)", "2: y"])
        let long = String(repeating: "x", count: 1000)
        for text in [
            long, "\"\(long)\"", String(repeating: ",", count: 1000), "\"" + String(repeating: "\n", count: 1000),
        ] {
            let records = read(Array((text + "\ny").utf8), pieces: 7)
            #expect(records.first?.hasPrefix("1! The line cannot be read: the record") == true, "\(records)")
            #expect(records.last?.hasSuffix(": y") == true)
        }
    }

    @Test func `a record that is written is read as it was`() {
        let fields = ["plain", "a,b", "a\"b", "a\nb", "", " x ", "ä"]
        #expect(read(Array(CSVText.record(fields).utf8)) == ["1: \(fields.joined(separator: "|"))"])
    }
}
