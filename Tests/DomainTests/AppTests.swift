import Domain
import Testing

struct AppTests {
    private func app(tokens: Set<String> = [], minimum: String? = nil) -> App {
        App(slug: "coins", bundleID: "com.example.coins", ignoredTokens: tokens, minimumWordingVersion: minimum)
    }

    @Test func theNilTokenAndTheListedOnesNameNobodyInWhateverCase() {
        let app = app(tokens: ["7E57C0DE-1234-5678-9ABC-DEF012345678"])
        #expect(app.ignoredTokens == ["7e57c0de-1234-5678-9abc-def012345678", App.nilToken])
        #expect(app.isTokenIgnored("7e57C0DE-1234-5678-9abc-def012345678"))
        #expect(app.isTokenIgnored("00000000-0000-0000-0000-000000000000"))
        #expect(!app.isTokenIgnored("7e57c0de-1234-5678-9abc-def012345679"))
    }

    @Test(arguments: [
        ("3", "3"), ("3", "4"), ("2.9", "2.10"), ("2", "2.0.0"), ("2.0", "2"), ("2026-05-25", "2026-05-25"),
        ("2026-05-25", "2026-11-03"), ("0", "0.0"),
    ])
    func aWordingOfThisVersionOrALaterOneIsRecent(minimum: String, version: String) {
        #expect(app(minimum: minimum).isWordingRecent(version))
    }

    @Test(
        arguments: [
            ("3", "2"), ("2.10", "2.9"), ("2.0.1", "2"), ("2026-05-25", "2025-12-31"), ("3", "4-beta"), ("3", "v4"),
            ("3", ""),
            ("3", "4."), ("3", "٤"), ("3", "99999999999999999999"), ("3", nil),
        ] as [(String, String?)])
    func anOlderWordingAndOneOfNoVersionAreNot(minimum: String, version: String?) {
        #expect(!app(minimum: minimum).isWordingRecent(version))
    }

    @Test(arguments: ["1", "anything", nil]) func withoutAMinimumAnyWordingIs(version: String?) {
        #expect(app().isWordingRecent(version))
    }
}
