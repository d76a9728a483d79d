import AppStoreAPI
import Foundation

/// All notifications, the latest only, and where they go.
///
/// No sockets, no signatures.
struct NotificationOutbox: Sendable {
    /// How many notifications are kept.
    static let capacity = 10_000
    /// How many attempts are under way together.
    static let largestFlight = 32

    /// An attempt that is to be made now.
    struct Delivery: Sendable {
        let notification: SentNotification
        let address: NotificationAddress
        let timeout: Duration
    }

    /// How long a receiver may take; real time.
    var timeout = Duration.seconds(5)
    private(set) var addresses: [AppInEnvironment: NotificationAddress] = [:]
    /// In the order in which they were made.
    private(set) var notifications: [SentNotification] = []
    private var lastNumber = 0
    /// Numbers of those that wait for an attempt.
    private var waiting: Set<Int> = []
    private var underWay: Set<Int> = []
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed &+ 0x6e6f_7469_6669_6572) }

    // MARK: Addresses

    mutating func setAddress(_ address: NotificationAddress?, of bundleID: String, in environment: SimulatedEnvironment)
    {
        addresses[AppInEnvironment(bundleID: bundleID, environment: environment)] = address
    }

    func address(of bundleID: String, in environment: SimulatedEnvironment) -> NotificationAddress? {
        addresses[AppInEnvironment(bundleID: bundleID, environment: environment)]
    }

    // MARK: Making notifications

    /// A UUID in lower case.
    mutating func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// Takes a notification for delivery at once; like Apple, it drops those of apps that have no address.
    ///
    /// - Parameters:
    ///   - draft: what it says.
    ///   - app: the app that it is about.
    ///   - now: UNIX milliseconds; the signing date.
    ///   - testToken: for a test notification.
    /// - Returns: The notification, unless it was dropped.
    @discardableResult
    mutating func post(
        _ draft: NotificationDraft, from app: RegisteredApp, now: Int64, testToken: String? = nil
    ) -> SentNotification? {
        guard address(of: draft.bundleID, in: draft.environment) != nil else { return nil }
        lastNumber += 1
        let notification = SentNotification(
            number: lastNumber, uuid: uuid(), draft: draft, appAppleID: app.appAppleID, signedDate: now,
            testToken: testToken, nextAttemptDate: now)
        notifications.append(notification)
        waiting.insert(lastNumber)
        dropOldest()
        return notification
    }

    /// Drops in bulk, which keeps the cost of each notification small.
    private mutating func dropOldest() {
        guard notifications.count >= Self.capacity + Self.capacity / 10 else { return }
        for dropped in notifications.prefix(notifications.count - Self.capacity) {
            waiting.remove(dropped.number)
            underWay.remove(dropped.number)
        }
        notifications.removeFirst(notifications.count - Self.capacity)
    }

    // MARK: Delivery

    /// The earliest time at which an attempt is due, UNIX milliseconds.
    var nextAttemptDate: Int64? { waiting.compactMap { self[$0]?.nextAttemptDate }.min() }

    /// Takes out what is to be sent now, the oldest first, as much as may be under way.
    mutating func takeDue(now: Int64) -> [Delivery] {
        let due = waiting.filter { self[$0]?.nextAttemptDate.map { $0 <= now } ?? true }.sorted()
        var deliveries: [Delivery] = []
        for number in due where underWay.count < Self.largestFlight {
            waiting.remove(number)
            guard let index = index(number) else { continue }
            notifications[index].nextAttemptDate = nil
            let draft = notifications[index].draft
            // Without an address any more, Apple has nowhere to send it again.
            guard let address = address(of: draft.bundleID, in: draft.environment) else { continue }
            underWay.insert(number)
            deliveries.append(Delivery(notification: notifications[index], address: address, timeout: timeout))
        }
        return deliveries
    }

    /// Keeps the signed form.
    mutating func setSignedPayload(_ text: String, of number: Int) {
        if let index = index(number) { notifications[index].signedPayload = text }
    }

    /// Notes an attempt that was under way, and when the next is due.
    mutating func record(_ result: SendAttemptResult, of number: Int, at date: Int64) {
        guard underWay.remove(number) != nil, let index = index(number) else { return }
        notifications[index].attempts.append(SentNotification.Attempt(date: date, result: result))
        guard result != .success,
            let delay = NotificationSchedule.delay(
                afterAttempts: notifications[index].attempts.count, in: notifications[index].draft.environment)
        else { return }
        notifications[index].nextAttemptDate = date + delay
        waiting.insert(number)
    }

    // MARK: Finding

    subscript(number: Int) -> SentNotification? { index(number).map { notifications[$0] } }

    /// The test notification of a token.
    func test(_ token: String) -> SentNotification? { notifications.last { $0.testToken == token } }

    /// Numbers are without gaps.
    private func index(_ number: Int) -> Int? {
        guard let first = notifications.first?.number, notifications.indices.contains(number - first) else {
            return nil
        }
        return number - first
    }
}
