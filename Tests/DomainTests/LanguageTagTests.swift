import Domain
import Testing

struct LanguageTagTests {
    @Test(arguments: [
        "de", "DE", "de-CH", "zh-Hant-TW", "es-419", "sl-rozaj-biske", "de-CH-1996", "en-a-bbb-x-a", "x-whatever",
        "i-klingon", "haw", "abcdefgh", "x-a",
    ])
    func `what has the form of RFC 5646 is a tag`(tag: String) {
        #expect(LanguageTag.isWellFormed(tag))
    }

    @Test(arguments: [
        "", "d", "x", "i", "de_CH", "de-", "-de", "de--CH", "de-abcdefghi", "abcdefghi", "d1", "de-CH-a", "de CH",
        "de-\u{e4}", "English (US)", "de-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaa",
    ])
    func `what has another form is none`(text: String) {
        #expect(!LanguageTag.isWellFormed(text))
    }
}
