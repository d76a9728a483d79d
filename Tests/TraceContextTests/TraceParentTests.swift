import Testing

@testable import TraceContext

/// Examples of the specification, and what it forbids.
struct TraceParentTests {
    static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let span = "00f067aa0ba902b7"
    static let text = "00-\(trace)-\(span)-01"

    @Test func aValidHeaderIsReadAndWrittenAgain() throws {
        let parent = try #require(TraceParent(Self.text, state: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"))
        #expect(parent.traceID == Self.trace && parent.spanID == Self.span && parent.flags == 1)
        #expect(parent.text == Self.text)
        #expect(parent.headers.map(\.name) == ["traceparent", "tracestate"])
        #expect(parent.headers.last?.value == "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-01-",
        "00-\(trace)-\(span)-01-more", "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span)-0g",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "ff-\(trace)-\(span)-01",
        "00_\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "01-\(trace)-\(span)-01more", " \(text)", "\(text) ",
        "01-\(trace)-\(span)-01-" + String(repeating: "a", count: 300), "00-\(trace)-\(span)-é1",
    ])
    func whatIsNotValidIsNoTrace(_ text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func ofALaterVersionWhatIsKnownIsRead() {
        #expect(TraceParent("01-\(Self.trace)-\(Self.span)-09-what-comes")?.text == Self.text)
        #expect(TraceParent("cc-\(Self.trace)-\(Self.span)-00")?.flags == 0)
    }

    @Test(arguments: [
        "", " ", ",", "no member", "a=1\r\nX-Evil: 1", "a=\u{e9}", String(repeating: "a", count: 511) + "=1",
        Array(repeating: "a=1", count: 33).joined(separator: ","),
    ])
    func aStateThatMayNotBePassedOnIsDroppedAndTheTraceKept(_ state: String) {
        let parent = TraceParent(Self.text, state: state)
        #expect(parent != nil && parent?.state == nil)
        #expect(parent?.headers.map(\.name) == ["traceparent"])
    }

    @Test func aChildIsAnotherSpanOfTheTrace() throws {
        let parent = try #require(TraceParent(Self.text, state: "a=1"))
        let child = parent.child()
        #expect(child.traceID == parent.traceID && child.flags == 1 && child.state == "a=1")
        #expect(child.spanID != parent.spanID)
        #expect(TraceParent(child.text) != nil)
    }

    @Test func everyRootIsValidAndNobodyElses() {
        let roots = (0..<1000).map { _ in TraceParent.root() }
        #expect(roots.allSatisfy { TraceParent($0.text)?.traceID == $0.traceID && $0.flags == 0 })
        #expect(Set(roots.map(\.traceID)).count == 1000 && Set(roots.map(\.spanID)).count == 1000)
    }
}
