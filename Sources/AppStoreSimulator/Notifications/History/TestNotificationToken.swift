import Foundation

/// What Get Test Notification Status asks by: a UUID and the time of the request in UNIX seconds.
enum TestNotificationToken {
    /// How long Apple knows a test, in milliseconds: six months.
    static let lifetime: Int64 = 183 * 86_400_000

    static func text(_ uuid: String, now: Int64) -> String { "\(uuid)_\(now / 1000)" }

    /// Whether a text has the form of a token.
    static func isWellFormed(_ text: String) -> Bool {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && UUID(uuidString: String(parts[0])) != nil && Int64(parts[1]) != nil
    }
}
