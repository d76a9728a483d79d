/// Where work stands in a distributed trace: what the header `traceparent` says, with the `tracestate` that goes with it.
///
/// Source: W3C Trace Context (https://www.w3.org/TR/trace-context/), sections 3.2 and 3.3
package struct TraceParent: Sendable, Equatable {
    /// The longest `tracestate` that is passed on, in bytes: what the specification asks of everybody.
    ///
    /// A longer one is dropped.
    package static let maximumStateBytes = 512
    /// The most members of a `tracestate`.
    static let maximumStateMembers = 32
    /// The longest `traceparent` that is read, in bytes; later versions may be longer than ours, which takes 55.
    static let maximumBytes = 256

    /// 32 hexadecimal digits in lower case, not all zero.
    package let traceID: String
    /// The span that the work belongs to: 16 hexadecimal digits in lower case, not all zero.
    package let spanID: String
    /// Eight bits, of which the lowest says that the trace is recorded.
    package let flags: UInt8
    /// What vendors keep of the trace, unread; nil where there is none, or none that may be passed on.
    package let state: String?

    private init(traceID: String, spanID: String, flags: UInt8, state: String?) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
    }

    /// Reads what a client sent; nil unless it obeys the specification.
    ///
    /// A `state` that does not obey it is dropped.
    ///
    /// - Parameters:
    ///   - text: the field `traceparent`, of any version.
    ///   - state: the field `tracestate`; several of them put together with commas.
    package init?(_ text: String, state: String? = nil) {
        let bytes = Array(text.utf8)
        guard (55...Self.maximumBytes).contains(bytes.count),
            bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
            Self.isHexadecimal(bytes[0..<2]), Self.isHexadecimal(bytes[3..<35]), Self.isHexadecimal(bytes[36..<52]),
            Self.isHexadecimal(bytes[53..<55]),
            let flags = UInt8(String(decoding: bytes[53..<55], as: UTF8.self), radix: 16),
            Self.isNotZero(bytes[3..<35]), Self.isNotZero(bytes[36..<52])
        else { return nil }
        switch String(decoding: bytes[0..<2], as: UTF8.self) {
        case "ff": return nil
        case "00": guard bytes.count == 55 else { return nil }
        // Of a later version what is known is read, if it ends there or a dash follows.
        default: guard bytes.count == 55 || bytes[55] == Self.dash else { return nil }
        }
        self.init(
            traceID: String(decoding: bytes[3..<35], as: UTF8.self),
            spanID: String(decoding: bytes[36..<52], as: UTF8.self), flags: flags,
            state: state.flatMap { Self.passable($0) })
    }

    /// The beginning of a trace that nobody records, as what is told to others has to begin somewhere.
    package static func root() -> TraceParent {
        TraceParent(traceID: identifier(words: 2), spanID: identifier(words: 1), flags: 0, state: nil)
    }

    /// A span of the same trace.
    package func child() -> TraceParent {
        TraceParent(traceID: traceID, spanID: Self.identifier(words: 1), flags: flags, state: state)
    }

    /// The value of `traceparent`, in version 00, with those flags alone that it knows.
    package var text: String { "00-\(traceID)-\(spanID)-0\(flags & 1)" }

    /// The header fields that say it to whom is asked.
    package var headers: [(name: String, value: String)] {
        [("traceparent", text)] + (state.map { [("tracestate", $0)] } ?? [])
    }

    // MARK: Characters

    private static let dash = UInt8(ascii: "-")

    private static func isHexadecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    private static func isNotZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { $0 != UInt8(ascii: "0") }
    }

    /// A `tracestate` as it is passed on; nil for one that may not be.
    private static func passable(_ state: String) -> String? {
        guard (1...maximumStateBytes).contains(state.utf8.count),
            state.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
        else { return nil }
        let members = state.split(separator: ",").filter { !$0.allSatisfy { $0 == " " || $0 == "\t" } }
        guard (1...maximumStateMembers).contains(members.count), members.allSatisfy({ $0.contains("=") }) else {
            return nil
        }
        return state
    }

    /// Random digits, 16 a word, not all zero.
    private static func identifier(words: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<words).map { _ in
            let digits = String(UInt64.random(in: 1...UInt64.max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
