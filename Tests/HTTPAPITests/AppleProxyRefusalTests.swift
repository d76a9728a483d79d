import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Our own refusals, as Apple would put them: the table of `docs/apple-libraries.md`.
struct AppleProxyRefusalTests {
    /// A failure behind the door, and what the program gets to see.
    struct Row: Sendable, CustomTestStringConvertible {
        let reason: ServiceError.Reason
        let status: Int
        let code: Int64

        var testDescription: String { reason.rawValue }

        init(_ reason: ServiceError.Reason, _ status: Int, _ code: Int64) {
            self.reason = reason
            self.status = status
            self.code = code
        }

        static let all = [
            Row(.budgetExhausted, 429, 4_290_000), Row(.appleRateLimited, 429, 4_290_000),
            Row(.appleUnauthorized, 500, 5_000_001), Row(.appleUnavailable, 500, 5_000_001),
            Row(.appleAnswerInvalid, 500, 5_000_001), Row(.keyUnavailable, 500, 5_000_001),
            Row(.storeUnavailable, 500, 5_000_001), Row(.deadlineExceeded, 500, 5_000_001),
            Row(.outcomeUnknown, 500, 5_000_000), Row(.internalError, 500, 5_000_000),
            Row(.environmentNotSupported, 500, 5_000_000), Row(.noProductionRelease, 404, 4_040_010),
            Row(.environmentNotAllowed, 404, 4_040_010), Row(.missingScope, 403, 4_030_000),
            Row(.invalidRequest, 400, 4_000_000), Row(.ownedByAnotherUser, 409, 4_090_000),
            Row(.consentWithdrawn, 409, 4_090_000), Row(.caseClosed, 409, 4_090_000),
            Row(.deliveryUnderWay, 409, 4_090_000), Row(.deliveryEnded, 409, 4_090_000),
        ]
    }

    @Test(arguments: Row.all)
    func `a failure without an answer of Apple's has Apple's form`(row: Row) async throws {
        let fixture = try await AppleProxyFixture()
        fixture.proxy.answer(.failure(ServiceError(row.reason, "What is wrong.", cause: "for the log")))
        let reply = try await fixture.send(.get, "/inApps/v1/transactions/1")
        #expect(reply.status == row.status)
        #expect(reply.headers[.contentType] == "application/json")
        #expect(try reply.json["errorCode"]?.int64 == row.code)
        #expect(try reply.json["errorMessage"]?.string == "What is wrong.")
        #expect(!String(decoding: reply.body, as: UTF8.self).contains("for the log"))
        #expect((reply.headers[.retryAfter] != nil) == (row.status == 429))
    }

    @Test func `Retry-After is an absolute time in UNIX milliseconds, never too early`() async throws {
        let fixture = try await AppleProxyFixture()
        for (wait, expected) in [
            (Duration.milliseconds(1500), "1700000002000"), (.nanoseconds(1), "1700000000501"),
            (.seconds(3600), "1700003600500"),
        ] {
            fixture.proxy.answer(.failure(ServiceError(.budgetExhausted, "Later.", retryAfter: wait)))
            let reply = try await fixture.send(.get, "/inApps/v1/transactions/1")
            #expect(reply.headers[.retryAfter] == expected)
        }
    }

    @Test func `Apple's 401 to our own token is not passed on: it would blame the caller's key`() async throws {
        let fixture = try await AppleProxyFixture()
        let apple = AppleFailure(
            httpStatus: 401, errorCode: nil, errorName: nil, errorMessage: nil, environment: .production,
            endpoint: "Get Transaction Info", body: Array("Unauthenticated".utf8))
        fixture.proxy.answer(.failure(ServiceError(.appleUnauthorized, "Our key is refused.", apple: apple)))
        let reply = try await fixture.send(.get, "/inApps/v1/transactions/1")
        #expect(reply.status == 500)
        #expect(try reply.json["errorCode"]?.int64 == 5_000_001)
    }
}
