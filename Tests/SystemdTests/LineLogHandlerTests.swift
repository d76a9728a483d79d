import Foundation
import Logging
import Testing

@testable import Systemd

@Suite struct LineLogHandlerTests {
    private let pipe: TestPipe

    init() throws {
        pipe = try TestPipe()
    }

    private func logger(_ format: LogDestination.Format, level: Logger.Level = .info) -> Logger {
        let writer = LineWriter(descriptor: pipe.writingEnd)
        let now: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_738_326_896.789_5) }
        return Logger(label: "test.label") { label -> any LogHandler in
            if format == .terminal {
                TerminalLogHandler(label: label, level: LogLevel(level), write: writer.write, now: now)
            } else {
                JSONLinesLogHandler(label: label, level: LogLevel(level), write: writer.write, now: now)
            }
        }
    }

    private func object() throws -> [String: any Sendable] {
        let line = try #require(pipe.lines().first)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable])
    }

    @Test func anEventIsOneJSONObjectOnOneLine() throws {
        logger(.jsonLines).warning("Disk is \"full\"\n", metadata: ["path": "/var", "apps": ["b", "a"]])
        #expect(
            pipe.lines() == [
                #"{"time":"2025-01-31T12:34:56.789Z","level":"warning","logger":"test.label","#
                    + #""message":"Disk is \"full\"\n","apps":["b","a"],"path":"/var"}"#
            ])
    }

    @Test func metadataOfLoggerProviderEventAndErrorAreMerged() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no route" }
        var logger = logger(.jsonLines)
        logger[metadataKey: "listener"] = "api"
        logger[metadataKey: "request"] = "old"
        logger.handler.metadataProvider = Logger.MetadataProvider { ["trace": "4bf9"] }
        logger.info("Answered", error: Failure(), metadata: ["request": "new", "nested": ["a": ["b": "\(7)"]]])
        let object = try object()
        #expect(object["listener"] as? String == "api")
        #expect(object["request"] as? String == "new")
        #expect(object["trace"] as? String == "4bf9")
        #expect(object["error"] as? String == "no route")
        #expect((object["nested"] as? [String: [String: String]]) == ["a": ["b": "7"]])
    }

    @Test func numbersAndTruthsAreNoTexts() {
        let metadata: Logger.Metadata = [
            "a": .stringConvertible(404), "b": .stringConvertible(1.5), "c": .stringConvertible(true),
            "d": .stringConvertible(Double.nan), "e": "17", "f": .stringConvertible(UInt64.max),
        ]
        logger(.jsonLines).info("Counted", metadata: metadata)
        #expect(
            pipe.lines().first?.contains(#""a":404,"b":1.5,"c":true,"d":"nan","e":"17","f":18446744073709551615}"#)
                == true)
    }

    @Test func metadataCannotTakeThePlaceOfOurMembers() throws {
        logger(.jsonLines).info("Real", metadata: ["message": "forged", "level": "critical"])
        let object = try object()
        #expect(object["message"] as? String == "Real")
        #expect(object["message_"] as? String == "forged")
        #expect(object["level"] as? String == "info")
    }

    @Test func theLocationIsThereWhenDebugging() throws {
        logger(.jsonLines).info("quiet")
        logger(.jsonLines, level: .debug).info("loud")
        let lines = pipe.lines()
        #expect(!lines[0].contains("location"))
        #expect(lines[1].contains(#""location":"SystemdTests/LineLogHandlerTests.swift:"#))
    }

    @Test func everyScalarSurvivesTheEscaping() throws {
        let text = String(String.UnicodeScalarView((0...0x17f).compactMap(Unicode.Scalar.init)) + ["\u{1f510}"])
        logger(.jsonLines).info("\(text)", metadata: ["\(text)": "\(text)"])
        let object = try object()
        #expect(object["message"] as? String == text)
        #expect(object[text] as? String == text)
    }

    @Test(arguments: [47_000, 50_000, 400_000])
    func aLongLineIsCutAndStaysJSON(_ length: Int) throws {
        logger(.jsonLines).info(
            "\(String(repeating: "\u{1}\u{1f510}", count: length))",
            metadata: ["large": "\(String(repeating: "x", count: length))", "small": "kept"])
        let line = try #require(pipe.lines().first)
        #expect(line.utf8.count < 48 * 1024)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((object["message"] as? String)?.hasSuffix("...[truncated]") == true)
        #expect(object["small"] as? String == "kept")
        #expect(object["truncated"] as? Bool == true)
    }

    @Test func theTerminalGetsOneReadableLine() {
        logger(.terminal).error("Cannot bind", metadata: ["address": "127.0.0.1:80", "list": ["a", "b"]])
        #expect(
            pipe.lines() == [
                #"12:34:56.789 ERROR  test.label  Cannot bind  address=127.0.0.1:80  list=["a","b"]"#
            ])
    }

    @Test func textFromOutsideCannotCommandTheTerminal() {
        logger(.terminal).info("\u{1b}[2Jgone\r\nforged", metadata: ["\u{7}": "\u{9b}31m"])
        #expect(pipe.lines() == [#"12:34:56.789 INFO  test.label  \u{1B}[2Jgone\r\nforged  \u{07}=\u{009B}31m"#])
    }

    @Test func aLongTerminalLineIsCut() throws {
        logger(.terminal).info("\(String(repeating: "\u{e9}", count: 40_000))")
        let line = try #require(pipe.lines().first)
        #expect(line.utf8.count < 48 * 1024)
        #expect(line.hasSuffix("\u{e9}...[truncated]"))
    }

    @Test func `a level that changes while the process runs counts for every logger but one that has its own`() {
        let (level, writer) = (LogLevel(.info), LineWriter(descriptor: pipe.writingEnd))
        let logger = Logger(label: "test.label") { label in
            JSONLinesLogHandler(label: label, level: level, write: writer.write, now: { Date() })
        }
        var own = logger
        own.logLevel = .warning
        logger.debug("too early")
        level.set(.debug)
        logger.debug("loud")
        own.info("own level")
        level.set(.error)
        logger.warning("too late")
        own.warning("still its own")
        let messages = pipe.lines().map { $0.split(separator: "\"message\":\"")[1].prefix { $0 != "\"" } }
        #expect(messages == ["loud", "still its own"])
    }

    @Test func aLevelThatIsOffCostsNoMessage() {
        let logger = logger(.jsonLines)
        logger.debug("\(Issue.record("built a message that nobody reads"))")
        #expect(pipe.lines().isEmpty)
    }
}
