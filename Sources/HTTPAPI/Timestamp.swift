import Foundation

/// RFC 3339 times in UTC with milliseconds, such as `2026-01-31T12:00:00.250Z`.
enum Timestamp {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let wholeSeconds = Date.ISO8601FormatStyle()

    static func text(_ date: Date) -> String { date.formatted(style) }

    /// Reads a time, with or without fractions of a second and with any offset.
    static func date(_ text: String) -> Date? {
        (try? style.parse(text)) ?? (try? wholeSeconds.parse(text))
    }
}
