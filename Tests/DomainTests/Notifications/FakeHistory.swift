import Domain
import Foundation
import Synchronization
import TestSupport

/// Apple's notification history with its filters, pages and expiring tokens; answers nothing else.
final class FakeHistory: NotificationGateway {
    /// One page that was asked for.
    struct Question: Equatable {
        let pass: HistoryProgress.Pass
        let start: Date
        let end: Date
        let token: String?
        let environment: AppStoreEnvironment
    }

    private struct State {
        var notifications: [(sent: AppleNotification, hasFailed: Bool)] = []
        var questions: [Question] = []
        var failures: [(HistoryProgress.Pass?, AppStoreEnvironment?, ServiceError)] = []
        var lasting: ServiceError?
        /// Tokens of earlier ones have expired.
        var generation = 0
        var unverified: [UnverifiedNotification] = []
        var namesTokens = true
        var whenAsked: (@Sendable () -> Void)?
    }

    static let pageSize = 20

    private let state = Mutex(State())

    /// Adds notifications that Apple sent, or could not deliver.
    func add(_ notifications: [StoredNotification], hasFailed: Bool = false) {
        state.withLock { state in
            state.notifications += notifications.map { ($0.notification, hasFailed) }
        }
    }

    /// Lets the next question, of a pass or in an environment if one is given, fail.
    func fail(
        _ error: ServiceError, pass: HistoryProgress.Pass? = nil, in environment: AppStoreEnvironment? = nil,
        times: Int = 1
    ) {
        state.withLock { $0.failures += Array(repeating: (pass, environment, error), count: times) }
    }

    /// Lets every question fail until it is told otherwise.
    func failAlways(_ error: ServiceError?) { state.withLock { $0.lasting = error } }

    /// Makes every page lead nowhere.
    func forgetTokens() { state.withLock { $0.namesTokens = false } }

    /// Adds what does not verify to the first page of every window that holds the time when it was signed.
    func add(unverified: [UnverifiedNotification]) { state.withLock { $0.unverified += unverified } }

    /// Lets what did not verify be these notifications.
    func verify(as notifications: [StoredNotification]) {
        state.withLock { $0.unverified = [] }
        add(notifications)
    }

    /// Does something while each question is answered.
    func whenAsked(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.whenAsked = act } }

    func expireTokens() { state.withLock { $0.generation += 1 } }

    var questions: [Question] { state.withLock(\.questions) }

    func notificationHistoryPage(
        _ query: NotificationHistoryQuery, paginationToken: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> NotificationHistoryPage {
        guard let environment = call.environment else { throw ServiceError(.internalError, "no environment") }
        state.withLock(\.whenAsked)?()
        let pass: HistoryProgress.Pass =
            query.notificationType != nil ? .consumptionRequests : query.onlyFailures == true ? .failures : .all
        return try state.withLock { state throws(ServiceError) in
            state.questions.append(
                Question(
                    pass: pass, start: Self.date(query.startDate), end: Self.date(query.endDate),
                    token: paginationToken, environment: environment))
            if let lasting = state.lasting { throw lasting }
            let planned = state.failures.firstIndex { ($0.0 ?? pass) == pass && ($0.1 ?? environment) == environment }
            if let planned { throw state.failures.remove(at: planned).2 }
            var position = 0
            if let paginationToken {
                let parts = paginationToken.split(separator: ":").compactMap { Int($0) }
                guard parts.count == 2, parts[0] == state.generation else { throw Self.tokenExpired(environment) }
                position = parts[1]
            }
            let found = state.notifications.filter { sent, hasFailed in
                let signed = sent.signedDate ?? 0
                return sent.environment == environment && query.startDate <= signed && signed <= query.endDate
                    && (query.notificationType ?? sent.notificationType) == sent.notificationType
                    && (query.onlyFailures != true || hasFailed)
            }
            let end = min(position + Self.pageSize, found.count)
            let unverified = state.unverified.filter { unverified in
                let signed = unverified.claims.signedAt?.milliseconds ?? 0
                return query.startDate <= signed && signed <= query.endDate && paginationToken == nil
                    && pass != .failures
            }
            return NotificationHistoryPage(
                notifications: found[min(position, end)..<end].map {
                    SentNotification(notification: $0.sent, attempts: [])
                },
                unverified: unverified,
                paginationToken: state.namesTokens ? "\(state.generation):\(end)" : nil, hasMore: end < found.count)
        }
    }

    func requestTestNotification(_ call: UpstreamCall) async throws(ServiceError) -> String {
        throw ServiceError(.internalError, "not played")
    }

    func testNotification(_ token: String, _ call: UpstreamCall) async throws(ServiceError) -> SentNotification {
        throw ServiceError(.internalError, "not played")
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000)
    }

    private static func tokenExpired(_ environment: AppStoreEnvironment) -> ServiceError {
        .apple(4_000_017, httpStatus: 400, in: environment)
    }
}

extension ServiceError {
    /// An error number of Apple's.
    static func apple(
        _ code: Int64, httpStatus: Int, in environment: AppStoreEnvironment = .production
    ) -> ServiceError {
        ServiceError(
            .appleRejected, "Apple refused.",
            apple: AppleFailure(
                httpStatus: httpStatus, errorCode: code, errorName: nil, errorMessage: nil, environment: environment,
                endpoint: "Get Notification History"))
    }
}
