import Foundation
import Testing

@testable import Daemon

/// Files of links as they come: with a header, or JSON in each line.
struct ImportReaderTests {
    private func read(_ text: String, pieces: Int = 5) throws -> [ImportRecord<ImportItem>] {
        var reader = ImportReader(ImportKind.links.columns, maximumBytes: 200)
        var records: [ImportRecord<ImportItem>] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            records += try reader.read(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return records + (try reader.finish())
    }

    /// `line app json`, or `line! message`.
    private func lines(_ text: String) throws -> [String] {
        try read(text).map { record in
            switch record.content {
            case .success(let item):
                "\(record.line) \(item.app ?? "-") \(String(decoding: item.json, as: UTF8.self))"
            case .failure(let problem): "\(record.line)! \(problem.message)"
            }
        }
    }

    @Test func `columns may come in any order, and what is empty is left out`() throws {
        let text =
            "\u{FEFF}value,app,kind,user,environment\r\n1,coins,transactionId,\"a,b\",\r\n2,,transactionId,,Sandbox\r\n"
        #expect(
            try lines(text) == [
                #"2 coins {"value":"1","kind":"transactionId","user":"a,b"}"#,
                #"3 - {"value":"2","kind":"transactionId","environment":"Sandbox"}"#,
            ])
    }

    @Test func `a line with other fields than the header is named`() throws {
        let found = try lines("user,kind,value\na,b\na,transactionId,1\n")
        #expect(found[0] == "2! The line cannot be read: it has 2 fields where the header has 3.")
        #expect(found.count == 2)
    }

    @Test(arguments: [
        ("", "The file is empty"), ("\n\n", "The file is empty"), ("user,kind\n", "lacks value"),
        ("user,kind,value,colour\n", "has the unknown colour"), ("user,kind,value,user\n", "names a column twice"),
        ("a,b\nuser,kind,value\n", "lacks user, kind, value and has the unknown a, b"),
        ("\"user,kind,value\n", "Line 1 is no header"),
    ])
    func `a file without a proper header is no list`(text: String, message: String) throws {
        let error = try #require(throws: ImportFileError.self) { try read(text) }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test func `a header alone is a list of nothing`() throws {
        #expect(try lines("user,kind,value").isEmpty)
    }

    @Test func `JSON lines are passed on as they are, without app and null`() throws {
        let text = """
            {"user":"a","app":"coins","kind":"transactionId","value":"1","validUntil":null}

            {"user":1,"colour":[1, 2]}\r
            {"user":"a","user":"b"}
            [1]
            {"user":"\(String(repeating: "x", count: 300))"}
            {"user":"b"}
            """
        let found = try lines(text)
        #expect(found[0] == #"1 coins {"user":"a","kind":"transactionId","value":"1"}"#)
        #expect(found[1] == #"3 - {"user":1,"colour":[1, 2]}"#)
        #expect(found[2].hasPrefix("4! The line cannot be read: it must be one JSON object"))
        #expect(found[3].hasPrefix("5! "))
        #expect(found[4] == "6! The line cannot be read: it is longer than 200 bytes.")
        #expect(found[5] == #"7 - {"user":"b"}"#)
    }

    @Test func `lines about one identifier are known as such, whatever the case`() throws {
        let records = try read("user,kind,value\na,appAccountToken,AB\nb,appAccountToken,ab\nb,transactionId,ab\n")
        let identities = try records.map { try $0.content.get().identity }
        #expect(identities[0] == identities[1])
        #expect(identities[1] != identities[2])
        let json = try read(#"{"value":"x","kind":"k"}"# + "\n" + #"{"kind":"k","user":"a","value":"X"}"#)
        #expect(try json[0].content.get().identity == json[1].content.get().identity)
    }
}
