import AppStoreAPI
import Foundation
import Logging
import OpenSSL

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
        let notification: SimulatedNotification
        let address: NotificationAddress
        let timeout: Duration
    }

    /// How long a receiver may take; real time.
    var timeout = Duration.seconds(5)
    private(set) var addresses: [AppInEnvironment: NotificationAddress] = [:]
    /// In the order in which they were made.
    private(set) var notifications: [SimulatedNotification] = []
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
    ) -> SimulatedNotification? {
        guard address(of: draft.bundleID, in: draft.environment) != nil else { return nil }
        lastNumber += 1
        let notification = SimulatedNotification(
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
        notifications[index].attempts.append(SimulatedNotification.Attempt(date: date, result: result))
        guard result != .success,
            let delay = NotificationSchedule.delay(
                afterAttempts: notifications[index].attempts.count, in: notifications[index].draft.environment)
        else { return }
        notifications[index].nextAttemptDate = date + delay
        waiting.insert(number)
    }

    // MARK: Finding

    subscript(number: Int) -> SimulatedNotification? { index(number).map { notifications[$0] } }

    /// The test notification of a token.
    func test(_ token: String) -> SimulatedNotification? { notifications.last { $0.testToken == token } }

    /// Numbers are without gaps.
    private func index(_ number: Int) -> Int? {
        guard let first = notifications.first?.number, notifications.indices.contains(number - first) else {
            return nil
        }
        return number - first
    }
}

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

/// Signs and sends what is in the outbox when its time has come.
struct NotificationDispatcher: Sendable {
    let state: SimulatorState
    let authority: SigningAuthority
    let sender: NotificationSender
    let logger: Logger

    /// Works until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            var alarms: Set<Int64> = []
            for await _ in state.agendaChanges {
                let now = state.milliseconds
                alarms = alarms.filter { $0 > now }
                let agenda = state.takeDue(now: now)
                for delivery in agenda.deliveries { group.addTask { await attempt(delivery) } }
                for test in agenda.tests { group.addTask { await tester.run(test) } }
                // What is due and waits for others to end is looked for again when they do.
                guard let next = agenda.nextDate, next > now, alarms.insert(next).inserted else { continue }
                group.addTask {
                    // A wait that was cut short does no harm: what is not due is not taken.
                    try? await state.clock.sleep(until: Date(timeIntervalSince1970: Double(next) / 1000))
                    state.agendaChanged()
                }
            }
            group.cancelAll()
        }
    }

    private var tester: PerformanceTestRunner {
        PerformanceTestRunner(state: state, authority: authority, sender: sender, logger: logger)
    }

    private func attempt(_ delivery: NotificationOutbox.Delivery) async {
        let number = delivery.notification.number
        let date = state.milliseconds
        do throws(OpenSSLError) {
            let signed: String
            if let known = delivery.notification.signedPayload {
                signed = known
            } else {
                signed = try authority.sign(delivery.notification)
                state.withContent { $0.outbox.setSignedPayload(signed, of: number) }
            }
            var body = ResponseBodyV2()
            body.signedPayload = signed
            let result = await sender.post(body.serialized(), to: delivery.address, timeout: delivery.timeout)
            state.withContent { $0.outbox.record(result, of: number, at: date) }
        } catch {
            logger.error("notification cannot be signed", metadata: ["number": "\(number)", "error": "\(error)"])
            state.withContent { $0.outbox.record(.other, of: number, at: date) }
        }
        state.observers.notify(.notificationAttempted)
        state.agendaChanged()
    }
}
