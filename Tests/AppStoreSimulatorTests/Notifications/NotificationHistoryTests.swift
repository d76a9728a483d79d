import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

/// Get Notification History.
struct NotificationHistoryTests {
    private static let day: Int64 = 86_400_000

    /// A body that asks for the last day, and more.
    private func body(_ fixture: SimulatorFixture, _ more: [(String, JSONValue)] = []) -> JSONValue {
        let now = fixture.clock.milliseconds
        return .object(
            JSONObject(
                [
                    ("startDate", .number(JSONNumber(now - Self.day))),
                    ("endDate", .number(JSONNumber(now + Self.day))),
                ] + more))
    }

    private func history(
        _ fixture: SimulatorFixture, _ more: [(String, JSONValue)] = [], token: String? = nil
    ) async throws -> NotificationHistoryResponse {
        try await fixture.answer(
            NotificationHistoryResponse.self, .getNotificationHistory(paginationToken: token),
            body: body(fixture, more))
    }

    private func notify(
        _ fixture: SimulatorFixture, _ type: NotificationTypeV2, _ subtype: Subtype? = nil, about id: String? = nil
    ) async throws {
        var members: [(String, JSONValue)] = [
            ("notificationType", .string(type.rawValue)), ("bundleId", .string(SimulatorFixture.bundleID)),
            ("environment", "Sandbox"),
        ]
        if let subtype { members.append(("subtype", .string(subtype.rawValue))) }
        if let id { members.append(("transactionId", .string(id))) }
        let before = fixture.state.notifications.map(\.attempts.count).reduce(0, +)
        let answer = try await fixture.control("POST", "/notifications", .object(JSONObject(members)))
        try #require(answer.status == 201)
        try await fixture.waitForAttempts(before + 1)
    }

    @Test func `it shows payloads as they were sent, with their attempts`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500), .status(200)) { receiver in
                let id = try #require(try fixture.buyOnce().transactionId)
                try fixture.notify(receiver)
                try await notify(fixture, .refundDeclined, about: id)
                try await notify(fixture, .refund, about: id)
                let history = try await history(fixture)
                #expect(history.hasMore == false && history.paginationToken == nil)
                let items = try #require(history.notificationHistory)
                let sent = try receiver.requests.map { try ResponseBodyV2(parsing: $0.body).signedPayload }
                #expect(items.map(\.signedPayload) == sent)
                #expect(
                    items.map { $0.sendAttempts?.map(\.sendAttemptResult) } == [
                        [.unsuccessfulHTTPResponseCode], [.success],
                    ])
                #expect(items[0].sendAttempts?.first?.attemptDate == fixture.clock.milliseconds)
            }
        }
    }

    @Test func `filters choose by type, subtype, customer and failure`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500), .status(200)) { receiver in
                let ann = try #require(try fixture.buyOnce().transactionId)
                let bob = try #require(try fixture.buyOnce().transactionId)
                try fixture.notify(receiver)
                try await notify(fixture, .refund, about: ann)
                try await notify(fixture, .refund, about: bob)
                try await notify(fixture, .expired, .voluntary, about: bob)
                func types(_ more: [(String, JSONValue)]) async throws -> [String?] {
                    let items = try await history(fixture, more).notificationHistory ?? []
                    return try items.map {
                        try fixture.verifiedNotification($0.signedPayload).notificationType?.rawValue
                    }
                }
                #expect(try await types([("notificationType", "REFUND")]) == ["REFUND", "REFUND"])
                #expect(try await types([("notificationType", "EXPIRED")]) == ["EXPIRED"])
                let voluntary: [(String, JSONValue)] = [
                    ("notificationType", "EXPIRED"), ("notificationSubtype", "VOLUNTARY"),
                ]
                #expect(try await types(voluntary) == ["EXPIRED"])
                #expect(
                    try await types([("notificationType", "EXPIRED"), ("notificationSubtype", "BILLING_RETRY")]).isEmpty
                )
                #expect(try await types([("transactionId", .string(bob))]) == ["REFUND", "EXPIRED"])
                #expect(try await types([("onlyFailures", true)]) == ["REFUND"])
                #expect(try await types([("onlyFailures", true), ("transactionId", .string(bob))]).isEmpty)
            }
        }
    }

    @Test func `pages follow each other by tokens that expire`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.notify(receiver)
                fixture.state.pageSize = 2
                for _ in 0..<5 { try await notify(fixture, .refund) }
                var uuids: [String?] = []
                var token: String?
                var pages = 0
                repeat {
                    let page = try await history(fixture, token: token)
                    uuids += try (page.notificationHistory ?? []).map {
                        try fixture.verifiedNotification($0.signedPayload).notificationUUID
                    }
                    pages += 1
                    token = page.paginationToken
                    #expect((token != nil) == (page.hasMore == true))
                } while token != nil
                #expect(pages == 3 && uuids == fixture.state.notifications.map(\.uuid))

                let first = try #require(try await history(fixture).paginationToken)
                let other = body(fixture, [("notificationType", "REFUND")]).serialized()
                try await fixture.expect(
                    .invalidPaginationToken, from: .getNotificationHistory(paginationToken: first), body: other)
                try await fixture.expect(
                    .invalidPaginationToken, from: .getNotificationHistory(paginationToken: "x"),
                    body: body(fixture).serialized())
                let same = body(fixture).serialized()
                fixture.clock.advance(by: 86_400)
                try await fixture.expect(
                    .paginationTokenExpired, from: .getNotificationHistory(paginationToken: first), body: same)
            }
        }
    }

    @Test func `each rule of the body has its error`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let now = fixture.clock.milliseconds
            func dates(_ start: Int64, _ end: Int64) -> JSONValue {
                ["startDate": .number(JSONNumber(start)), "endDate": .number(JSONNumber(end))]
            }
            let cases: [(JSONValue, APIErrorCode)] = [
                (["endDate": .number(JSONNumber(now))], .invalidStartDate),
                (["startDate": "soon", "endDate": .number(JSONNumber(now))], .invalidStartDate),
                (["startDate": .number(JSONNumber(now - 1))], .invalidEndDate),
                (["startDate": .number(JSONNumber(now - 1)), "endDate": -1], .invalidEndDate),
                (dates(now, now), .startDateAfterEndDate),
                (dates(now, now - 1), .startDateAfterEndDate),
                (dates(now - 30 * Self.day - 1, now), .startDateTooFarInPast),
                (body(fixture, [("notificationType", "NEVER_SEEN")]), .invalidNotificationType),
                (body(fixture, [("notificationType", 5)]), .invalidNotificationType),
                (body(fixture, [("notificationSubtype", "UPGRADE")]), .invalidNotificationType),
                (
                    body(fixture, [("notificationType", "REFUND"), ("notificationSubtype", "UPGRADE")]),
                    .invalidNotificationType
                ),
                (
                    body(fixture, [("notificationType", "REFUND"), ("transactionId", .string(id))]),
                    .multipleFiltersSupplied
                ),
                (body(fixture, [("transactionId", "abc")]), .invalidTransactionId),
                (body(fixture, [("transactionId", "123")]), .transactionIdNotFound),
                (body(fixture, [("onlyFailures", "yes")]), .generalBadRequest),
            ]
            for (body, error) in cases {
                try await fixture.expect(error, from: .getNotificationHistory(), body: body.serialized())
            }
            let exact = try await fixture.answer(
                NotificationHistoryResponse.self, .getNotificationHistory(), body: dates(now - 30 * Self.day, now))
            #expect(exact.notificationHistory == [])
            let production = try await fixture.answer(
                NotificationHistoryResponse.self, .getNotificationHistory(), in: .production,
                body: dates(now - 180 * Self.day, now))
            #expect(production.hasMore == false)
            try await fixture.expect(
                .startDateTooFarInPast, from: .getNotificationHistory(), in: .production,
                body: dates(now - 180 * Self.day - 1, now).serialized())
        }
    }

    @Test func `a body that is not JSON is refused without a number`() async throws {
        try await SimulatorFixture.with { fixture in
            let malformed = try await fixture.call(.getNotificationHistory(), body: Array("[]".utf8))
            #expect(malformed.status == 400 && malformed.body.isEmpty)
            let text = try await fixture.call(
                .getNotificationHistory(), body: body(fixture).serialized(), contentType: "text/plain")
            #expect(text.status == 415)
        }
    }
}
