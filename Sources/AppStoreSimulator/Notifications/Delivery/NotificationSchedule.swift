/// When Apple tries to deliver a notification again.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
enum NotificationSchedule {
    private static let hour: Int64 = 3_600_000
    /// From an attempt to the next, in milliseconds.
    private static let delays: [Int64] = [1, 12, 24, 48, 72].map { $0 * hour }

    /// How long to wait after so many attempts that failed, in milliseconds; nil when there will be no other.
    static func delay(afterAttempts count: Int, in environment: SimulatedEnvironment) -> Int64? {
        guard environment == .production, delays.indices.contains(count - 1) else { return nil }
        return delays[count - 1]
    }
}
