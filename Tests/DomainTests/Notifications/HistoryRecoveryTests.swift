import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Domain

/// How soon the missed requests of ten thousand apps are found, whatever happens to Apple and to some of them: the real
/// search, by a clock that passes when there is nothing to do.
struct HistoryRecoveryTests {
    private static let apps = 10_000
    private static let minutes = 60.0

    /// Apple's history, with one missed request of each app in each environment, on the first of two pages, and one renewal.
    private final class History: NotificationGateway {
        /// How long Apple takes to answer.
        static let latency = Duration.milliseconds(200)

        let time: SimulatedTime
        /// How long each question takes that fails, and how it fails; nil where there is an answer.
        let trouble: @Sendable (App, AppStoreEnvironment, Duration) -> (Duration, ServiceError)?
        /// How many apps have a history without end, of pages that take their time.
        let endless: Int
        /// When another request appears.
        let lateAt: Duration?
        private let counts = Mutex<[AppStoreEnvironment: (all: Int, underWay: Int, most: Int)]>([:])

        init(
            _ time: SimulatedTime, endless: Int, lateAt: Duration?,
            trouble: @escaping @Sendable (App, AppStoreEnvironment, Duration) -> (Duration, ServiceError)?
        ) {
            self.time = time
            self.endless = endless
            self.lateAt = lateAt
            self.trouble = trouble
        }

        func questions(in environment: AppStoreEnvironment) -> Int { counts.withLock { $0[environment]?.all ?? 0 } }
        func mostUnderWay(in environment: AppStoreEnvironment) -> Int {
            counts.withLock { $0[environment]?.most ?? 0 }
        }

        private func count(_ change: Int, _ environment: AppStoreEnvironment) {
            counts.withLock { counts in
                var count = counts[environment] ?? (0, 0, 0)
                count.all += max(change, 0)
                count.underWay += change
                count.most = max(count.most, count.underWay)
                counts[environment] = count
            }
        }

        func notificationHistoryPage(
            _ query: NotificationHistoryQuery, paginationToken: String?, _ call: UpstreamCall
        ) async throws(ServiceError) -> NotificationHistoryPage {
            let environment = call.environment ?? .production
            count(1, environment)
            defer { count(-1, environment) }
            let trouble = trouble(call.app, environment, time.now)
            let isEndless =
                query.notificationType == nil && query.onlyFailures != true && Self.number(call.app) < endless
            do {
                try await time.sleep(trouble?.0 ?? (isEndless ? .seconds(10) : Self.latency))
            } catch {
                throw ServiceError(.deadlineExceeded, "cancelled")
            }
            if let trouble { throw trouble.1 }
            let isFirst = paginationToken == nil
            if query.notificationType != nil {
                var found = isFirst ? [] : [Self.sent("request", "CONSUMPTION_REQUEST", environment)]
                if let lateAt, time.now >= lateAt {
                    found.append(Self.sent("late", "CONSUMPTION_REQUEST", environment))
                }
                return NotificationHistoryPage(notifications: found, paginationToken: "2", hasMore: isFirst)
            }
            let page = paginationToken.flatMap(Int.init) ?? 0
            return NotificationHistoryPage(
                notifications: query.onlyFailures == true ? [] : [Self.sent("renewal", "DID_RENEW", environment)],
                paginationToken: isEndless ? "\(page + 1)" : nil, hasMore: isEndless)
        }

        static func number(_ app: App) -> Int { Int(app.slug.dropFirst(3)) ?? 0 }

        private static func sent(
            _ name: String, _ type: String, _ environment: AppStoreEnvironment
        ) -> SentNotification {
            SentNotification(
                notification: AppleNotification(
                    notificationUUID: "\(name) \(environment.rawValue)", notificationType: type, subtype: nil,
                    signedDate: nil, environment: environment, payload: [], signed: "", transaction: nil,
                    renewalInfo: nil, appTransaction: nil), attempts: [])
        }

        func requestTestNotification(_ call: UpstreamCall) async throws(ServiceError) -> String {
            throw ServiceError(.internalError, "not played")
        }

        func testNotification(_ token: String, _ call: UpstreamCall) async throws(ServiceError) -> SentNotification {
            throw ServiceError(.internalError, "not played")
        }
    }

    /// What was found by when.
    private struct Findings {
        let records: HistoryRecords
        let history: History
        let log: RecordedLog

        /// When each missed request of an environment was found, in seconds from the start.
        func requests(in environment: AppStoreEnvironment, named name: String = "request") -> [TimeInterval] {
            records.recorded.filter { $0.key.hasSuffix("\(name) \(environment.rawValue)") }
                .map { $0.value.timeIntervalSince(DeliveryFixture.start) }
        }
    }

    /// Searches for so long.
    private func search(
        for duration: Duration, apps count: Int = apps, endless: Int = 0, lateAt: Duration? = nil,
        trouble: @escaping @Sendable (App, AppStoreEnvironment, Duration) -> (Duration, ServiceError)?
    ) async throws -> Findings {
        let found = Mutex<Findings?>(nil)
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let time = SimulatedTime()
            let origin = ContinuousClock.now
            let clock = ServiceClock(
                now: { DeliveryFixture.start.addingTimeInterval(time.now / .seconds(1)) },
                monotonicNow: { origin + time.now }, sleep: time.sleep)
            let apps = AppCatalog((0..<count).map { App(slug: "app\($0)", bundleID: "com.example.app\($0)") })
            let (records, history) = (
                HistoryRecords(), History(time, endless: endless, lateAt: lateAt, trouble: trouble)
            )
            let quarantine = NotificationQuarantine(
                verifier: fixture.verifier, store: records, processor: fixture.processor, apps: apps,
                retention: .seconds(86_400), clock: clock, logger: fixture.log.logger)
            let search = HistorySearch(
                gateway: history, store: records, quarantine: quarantine, processor: fixture.processor, apps: apps,
                clock: clock, logger: fixture.log.logger)
            await time.run(for: duration, search.run)
            found.withLock { $0 = Findings(records: records, history: history, log: fixture.log) }
        }
        let findings = found.withLock(\.self)
        return try #require(findings)
    }

    /// Ways in which an environment is out of order: it fails at once, after the client's own retries, or not for a minute.
    private static let outages: [(Duration, ServiceError)] = [
        (.zero, ServiceError(.appleUnavailable, "", cause: "the circuit is open", retryAfter: .seconds(5))),
        (.seconds(3), ServiceError(.appleUnavailable, "", cause: "status 503")),
        (.seconds(60), ServiceError(.deadlineExceeded, "")),
    ]

    @Test(arguments: outages)
    func `with the sandbox down every production request of 10,000 apps is found within five minutes`(
        takes: Duration, error: ServiceError
    ) async throws {
        let findings = try await search(for: .seconds(900)) { _, environment, _ in
            environment == .sandbox ? (takes, error) : nil
        }
        let requests = findings.requests(in: .production)
        #expect(requests.count == Self.apps)
        #expect(try #require(requests.max()) < 5 * Self.minutes)
        // The rest comes behind.
        #expect(findings.records.completeCount(in: .production) == Self.apps)
        // Of the sandbox no more is asked than what tells that it is still down.
        #expect((5..<60).contains(findings.history.questions(in: .sandbox)))
        #expect(findings.log.lines("cannot be read for any app").count == 1)
    }

    @Test func `once an environment is back its requests are found within minutes`() async throws {
        let back = Duration.seconds(1800)
        let findings = try await search(for: back + .seconds(600)) { _, environment, now in
            environment == .production && now < back
                ? (.seconds(3), ServiceError(.appleUnavailable, "", cause: "status 503")) : nil
        }
        #expect(try #require(findings.requests(in: .sandbox).max()) < 5 * Self.minutes)
        let requests = findings.requests(in: .production)
        #expect(requests.count == Self.apps)
        #expect(try #require(requests.max()) < back / .seconds(1) + 6 * Self.minutes)
        #expect(findings.log.lines("can be read again").count == 1)
    }

    @Test func `no app's own trouble holds up others, in whatever way two hundred of them are out of order`()
        async throws
    {
        let troubles: [ServiceError] = [
            ServiceError(.keyUnavailable, ""), ServiceError(.budgetExhausted, "", retryAfter: .seconds(90)),
            ServiceError(.appleRateLimited, "", retryAfter: .seconds(3600)),
            ServiceError(.appleUnavailable, "", cause: "status 500"), ServiceError(.appleAnswerInvalid, ""),
            .apple(4_040_007, httpStatus: 404),
        ]
        let findings = try await search(for: .seconds(1200), apps: 2_000) { app, _, _ in
            let number = History.number(app)
            return number.isMultiple(of: 10) ? (History.latency, troubles[number / 10 % troubles.count]) : nil
        }
        for environment in AppStoreEnvironment.allCases {
            let requests = findings.requests(in: environment)
            #expect(requests.count == 1_800, "\(environment)")
            #expect(try #require(requests.max()) < 5 * Self.minutes, "\(environment)")
            #expect(findings.records.completeCount(in: environment) == 1_800, "\(environment)")
        }
        #expect(findings.log.lines("cannot be read for any app").isEmpty)
    }

    @Test func `each environment has places of its own, and requests go before everything else`() async throws {
        let findings = try await search(for: .seconds(100)) { _, _, _ in nil }
        for environment in AppStoreEnvironment.allCases {
            #expect(findings.history.mostUnderWay(in: environment) == EnvironmentHistorySearch.slots)
        }
        // Two pages of requests each: until they are through nobody is asked for anything else.
        let renewals = findings.records.recorded.keys.count { $0.contains("renewal") }
        #expect(renewals == 0)
    }

    @Test func `histories that take hours to read hold up no round and no other app`() async throws {
        let appeared = 3600.0
        let findings = try await search(
            for: .seconds(2 * 3600), apps: 200, endless: 2 * EnvironmentHistorySearch.slots, lateAt: .seconds(appeared)
        ) { _, _, _ in nil }
        for environment in AppStoreEnvironment.allCases {
            let late = findings.requests(in: environment, named: "late")
            #expect(late.count == 200)
            #expect(try #require(late.max()) < appeared + 35 * Self.minutes)
            #expect(findings.records.completeCount(in: environment) == 200 - 2 * EnvironmentHistorySearch.slots)
        }
    }
}
