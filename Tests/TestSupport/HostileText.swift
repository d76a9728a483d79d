/// Text whose cost to `String`, were it hashed, compared or walked, grows faster than its length.
package enum HostileText: String, CaseIterable, Sendable {
    case descendingMarks, ascendingMarks, alternatingMarks, regionalIndicators, joinedEmoji, indicConjuncts, hangulJamo

    /// Text of this shape, of about so many bytes of UTF-8.
    package func text(bytes: Int) -> String {
        func filled(_ unit: String) -> String { String(repeating: unit, count: bytes / unit.utf8.count) }
        return switch self {
        // The first has a higher combining class than the second, so that sorting moves each of them.
        case .descendingMarks:
            "a" + String(repeating: "\u{0300}", count: bytes / 4) + String(repeating: "\u{0316}", count: bytes / 4)
        case .ascendingMarks:
            "a" + String(repeating: "\u{0316}", count: bytes / 4) + String(repeating: "\u{0300}", count: bytes / 4)
        case .alternatingMarks: "a" + filled("\u{0300}\u{0316}")
        case .regionalIndicators: filled("\u{1F1E6}")
        case .joinedEmoji: filled("\u{1F468}\u{200D}")
        case .indicConjuncts: filled("\u{0915}\u{094D}")
        case .hangulJamo: filled("\u{1100}\u{1161}\u{11A8}")
        }
    }

    /// Whether it has more combining characters in a row than stream-safe text may have.
    package var isMarks: Bool {
        switch self {
        case .descendingMarks, .ascendingMarks, .alternatingMarks: true
        case .regionalIndicators, .joinedEmoji, .indicConjuncts, .hangulJamo: false
        }
    }
}
