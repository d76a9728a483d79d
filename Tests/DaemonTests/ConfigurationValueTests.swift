import Domain
import Testing

@testable import Daemon

/// How single values are written.
struct ConfigurationValueTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("0s", .zero), ("5s", .seconds(5)), ("10m", .seconds(600)),
        ("1h", .seconds(3600)), ("876600h", .seconds(3_155_760_000)), ("30d", .seconds(2_592_000)),
        ("36525d", .seconds(3_155_760_000)),
    ])
    func durationsHaveAUnit(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", "5", "s", "-5s", "+5s", "1.5s", "5 s", "5w", "1h30m", "٣s", "876601h", "36526d", "99999999999999999999ms",
    ])
    func otherDurationsAreRefused(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: ["0s", "1ms", "1500ms", "90s", "1h", "25h", "1m", "1d", "730d"])
    func durationsAreWrittenInTheLargestUnitThatDivides(text: String) throws {
        #expect(DurationText.text(try #require(DurationText.parse(text))) == text)
    }

    @Test(arguments: [("0", 0), ("1048576", 1 << 20), ("64KiB", 1 << 16), ("8MiB", 8 << 20), ("2GiB", 2 << 30)])
    func sizesAreBytesOrBinaryUnits(text: String, bytes: Int) {
        #expect(ByteCount.parse(text) == bytes)
    }

    @Test(arguments: ["", "MiB", "-1", "1.5MiB", "8MB", "8 MiB", "8mib", "9223372036854775807GiB"])
    func otherSizesAreRefused(text: String) {
        #expect(ByteCount.parse(text) == nil)
    }

    @Test func onlyANearNameIsSuggested() {
        #expect(Suggestion.text(for: "levle", among: ["level", "format"]) == "Did you mean `level`?")
        #expect(Suggestion.text(for: "LEVEL", among: ["level", "format"]) == "Did you mean `level`?")
        #expect(Suggestion.text(for: "colour", among: ["level", "format"]) == "Known here: `format`, `level`.")
    }
}
