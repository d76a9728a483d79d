import HTTPTypes
import Testing

@testable import HTTPAPI

/// Tables as comma-separated values.
struct CSVWriterTests {
    private func line(_ fields: String?...) -> String {
        var writer = CSVWriter()
        for field in fields { writer.field(field) }
        writer.endLine()
        return String(decoding: writer.takeBytes(), as: UTF8.self)
    }

    @Test func `texts stand as they are, and in quotes where commas, quotes or line ends are in them`() {
        #expect(line("a", "ein Stück", "1 2") == "a,ein Stück,1 2\r\n")
        #expect(
            line("a,b", #"say "no""#, "two\nlines", "two\r\nlines")
                == "\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\"two\r\nlines\"\r\n")
        #expect(line("", nil, "x") == ",,x\r\n")
        #expect(line(nil) == "\r\n")
    }

    @Test func `nothing is taken for a formula`() {
        for start in ["=", "+", "-", "@", "\t"] { #expect(line("\(start)1+1") == "'\(start)1+1\r\n") }
        for start in ["\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"] {
            #expect(line("\(start)1+1") == "'\(start)1+1\r\n", "a full-width form")
            // As many bytes in common as there can be, and what is no formula.
            #expect(line("\u{FF1E}1") == "\u{FF1E}1\r\n")
        }
        for start in ["\r", "\n", "\r\n"] { #expect(line("\(start)=1") == "\"'\(start)=1\"\r\n") }
        #expect(line("\r1") == "\"'\r1\"\r\n")
        #expect(
            line(#"=HYPERLINK("https://example.com","x")"#) == #""'=HYPERLINK(""https://example.com"",""x"")""# + "\r\n"
        )
        #expect(line("a=1", " =1") == "a=1, =1\r\n", "only where it begins so")
    }

    @Test func `numbers are numbers, whatever their sign and size`() {
        var writer = CSVWriter()
        writer.field(-1)
        writer.field(Int128(Int64.max) * 2)
        writer.field(nil as Int?)
        writer.endLine()
        writer.field("next")
        #expect(writer.count == 30)
        #expect(String(decoding: writer.takeBytes(), as: UTF8.self) == "-1,18446744073709551614,\r\nnext")
        #expect(writer.count == 0)
    }

    @Test(arguments: [
        ([], false), (["text/csv"], true), (["TEXT/CSV;charset=utf-8"], true), (["*/*"], false), (["text/*"], true),
        (["text/csv, application/json"], false), (["application/json;q=0.5, text/csv;q=0.501"], true),
        (["application/json", "text/csv;q=1.000"], false), (["application/json; q=0.9", "text/csv"], true),
        (["text/csv;q=0, */*"], false), (["text/csv;header=\"present;q=0\""], true), (["text/*, text/csv;q=0.1"], true),
        (["text/*;q=0.5, application/*"], false), (["image/png"], false), (["text/csv;q=7"], true),
        ([" , ;q=1"], false),
    ])
    func `a client's header tells whether it would rather have a table`(accept: [String], isCSV: Bool) {
        var headers = HTTPFields()
        for value in accept { headers.append(HTTPField(name: .accept, value: value)) }
        #expect(
            AcceptHeader(RequestHeaders(headers)).prefers("text/csv", over: "application/json") == isCSV, "\(accept)")
    }
}
