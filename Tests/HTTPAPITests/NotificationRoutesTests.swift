import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

struct NotificationRoutesTests {
    private let app = "/v1/apps/coins"
    private let span = #""startDate":1699000000000,"endDate":1699999000000"#

    private func violations(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try reply.json["violations"]?.array?.map {
            "\($0["field"]?.string ?? "") \($0["appleErrorCode"]?.int64 ?? 0)"
        } ?? []
    }

    @Test func `a test notification is asked for, and the answer says where to look`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(.post, "\(app)/testNotifications?environment=Sandbox")
        #expect(reply.status == 202)
        #expect(try reply.json["testNotificationToken"] == "token_1" && reply.json["environment"] == "Sandbox")
        let location = try #require(reply.headers[.location])
        let status = try await fixture.send(.get, "\(location)&include=signed")
        #expect(status.status == 200)
        let sent = try status.json
        #expect(sent["notification"]?["notificationType"] == "TEST" && sent["signedPayload"] == "n.n.n")
        #expect(sent["environment"] == "Sandbox" && sent["verified"] == true && sent["transaction"] == nil)
        let attempts = try #require(sent["sendAttempts"]?.array)
        #expect(attempts[0]["sendAttemptResult"] == "SUCCESS" && attempts[0]["attemptDate"] == 1_700_000_000_000)
        #expect(attempts[1].object?.members.isEmpty == true)
    }

    @Test func `what has no id needs an environment, and nothing is asked without`() async throws {
        let fixture = try await RequestHandlerFixture()
        #expect(try violations(try await fixture.send(.post, "\(app)/testNotifications")) == ["environment 0"])
        let status = try await fixture.send(.get, "\(app)/testNotifications/a%2Fb?x=1")
        #expect(try violations(status) == ["token 4000020", "x 0", "environment 0"])
        let history = try await fixture.send(
            .post, "\(app)/appleNotificationHistory:query?paginationToken=", body: #"{"notificationType":"x"}"#)
        #expect(
            try violations(history) == [
                "environment 0", "paginationToken 4000014", "startDate 4000015", "endDate 4000016",
                "notificationType 4000018",
            ])
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test func `the history is one page of Apple's a call`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.gateway.addNotification(
            .sample(type: "REFUND", transaction: .sample(id: "7"), environment: .sandbox))
        fixture.gateway.addNotification(.sample(type: "TEST", environment: .sandbox))
        let target = "\(app)/appleNotificationHistory:query?environment=Sandbox"
        let body = "{\(span),\"onlyFailures\":true}"
        let first = try await fixture.send(.post, target, body: body).json
        #expect(first["hasMore"] == true && first["environment"] == "Sandbox")
        let entry = try #require(first["notificationHistory"]?.array?.first)
        #expect(entry["notification"]?["notificationType"] == "REFUND")
        #expect(entry["transaction"]?["transactionId"] == "7" && entry["signedPayload"] == nil)
        let token = try #require(first["paginationToken"]?.string)
        let second = try await fixture.send(.post, "\(target)&paginationToken=\(token)", body: body).json
        #expect(second["hasMore"] == false && second["paginationToken"] == nil)
        #expect(second["notificationHistory"]?.array?.count == 1)
        let query = NotificationHistoryQuery(
            startDate: 1_699_000_000_000, endDate: 1_699_999_000_000, onlyFailures: true)
        #expect(
            fixture.gateway.questions == [
                .notificationHistory(query, paginationToken: nil), .notificationHistory(query, paginationToken: token),
            ])
    }

    @Test func `the window is that of the environment`() async throws {
        let fixture = try await RequestHandlerFixture()
        let body = #"{"startDate":1690000000000,"endDate":1699999000000}"#
        let target = "\(app)/appleNotificationHistory:query?environment="
        #expect(try await fixture.send(.post, target + "Production", body: body).status == 200)
        #expect(
            try violations(try await fixture.send(.post, target + "Sandbox", body: body)) == ["startDate 4000012"])
    }
}
