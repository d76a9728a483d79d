import JSON
import Testing

@testable import Daemon

/// What operators read.
struct TextTableTests {
    @Test func `columns are as wide as they must be, and no line ends with blanks`() {
        let rows = [["ID", "STATE", "NOTE"], ["1", "answered", ""], ["a long one", "open", "ümlaut"]]
        #expect(
            TextTable.text(of: rows) == """
                ID          STATE     NOTE
                1           answered
                a long one  open      ümlaut

                """)
        #expect(TextTable.text(of: [["ID"]]) == "ID\n")
    }

    @Test func `objects become lines, under the names that lead to them`() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":{"c":null,"d":["x","y"]},"e":[{"f":true}],"g":{}}"#)
        #expect(
            TextTable.lines(of: value) == """
                a       1
                b.c     –
                b.d     x, y
                e[0].f  true
                g       {}

                """)
    }

    @Test func `what others have sent moves no terminal`() {
        #expect(TextTable.text(of: .string("a\u{1B}[2Jb\nc\u{7F}")) == "a [2Jb c ")
    }
}
