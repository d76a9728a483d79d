import JSON
import TestSupport
import Testing

/// Text from outside costs no more than its bytes.
///
/// `make instructions-hostile` counts what it costs. Here text of a mebibyte only has to come to an end: normalised, it would take
/// hours.
@Suite(.endsHangs) struct UntrustedTextTests {
    private static let size = 1 << 20

    @Test(arguments: HostileText.allCases)
    func `hashing, comparing and converting long text ends`(shape: HostileText) throws {
        let text = UntrustedText(shape.text(bytes: Self.size))
        var other = Set([text])
        #expect(other.contains(UntrustedText(shape.text(bytes: Self.size))))
        #expect(!other.insert(UntrustedText(shape.text(bytes: Self.size))).inserted)
        #expect(text != UntrustedText(shape.text(bytes: Self.size) + "x") && text != "a")
        #expect((text.checked == nil) == shape.isMarks)
        // A String once more, so that hashing and comparing it must end, too.
        let safe = text.streamSafe
        #expect(Set([safe]).contains(safe) && safe != "a" && safe != safe + "x")
        #expect(UntrustedText(safe).checked != nil, "stream-safe text stays as it is")
    }

    @Test func `thirty combining characters in a row pass, and one more does not`() {
        let thirty = "a" + String(repeating: "\u{0301}", count: 30)
        #expect(UntrustedText(thirty).checked == thirty)
        #expect(UntrustedText(thirty).streamSafe.utf8.elementsEqual(thirty.utf8))
        #expect(UntrustedText(thirty + "\u{0301}").checked == nil)
        let broken = "\(thirty)\u{034F}\u{0301}"
        #expect(UntrustedText(thirty + "\u{0301}").streamSafe.utf8.elementsEqual(broken.utf8))
        // A run begins anew behind each character that combines with nothing.
        #expect(UntrustedText(thirty + thirty).checked != nil)
        #expect(UntrustedText(String(repeating: "\u{0301}", count: 30)).checked != nil)
    }

    @Test(arguments: [0, 1, 29, 30, 31, 59, 60, 61, 62, 90, 91])
    func `no run is longer than thirty once text is stream-safe, and nothing else changes`(count: Int) {
        let text = "é" + String(repeating: "\u{0316}", count: count) + "z"
        let safe = UntrustedText(text).streamSafe
        #expect(UntrustedText(safe).checked != nil)
        #expect(safe.unicodeScalars.filter { $0 != "\u{034F}" }.elementsEqual(text.unicodeScalars))
        #expect(UntrustedText(safe).streamSafe.utf8.elementsEqual(safe.utf8))
    }

    @Test func `texts are equal when their bytes are`() {
        #expect(UntrustedText("\u{E9}") != UntrustedText("e\u{301}"))
        #expect(Set<UntrustedText>(["\u{E9}", "e\u{301}", "\u{E9}"]).count == 2)
        #expect(UntrustedText("a") < "b" && !(UntrustedText("b") < "a"))
        #expect(UntrustedText(validating: [0xFF]) == nil)
        #expect(UntrustedText(decoding: [0x61, 0xFF]) == "a\u{FFFD}")
    }

    @Test func `a description is short and printable`() {
        #expect(UntrustedText("a\"\n\u{E9}").description == #""a\"\n\u{E9}""#)
        #expect(
            UntrustedText(String(repeating: "x", count: 65)).description == "\"\(String(repeating: "x", count: 64))…\"")
        // Not cut within a character.
        #expect(UntrustedText(String(repeating: "x", count: 63) + "\u{E9}").prefix(bytes: 64).utf8.count == 63)
        #expect(UntrustedText("abc").prefix(bytes: 3) == "abc" && UntrustedText("abc").prefix(bytes: 2) == "ab")
    }
}
