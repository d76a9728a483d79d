import Domain
import Foundation
import TestSupport
import Testing

@testable import AppStoreClient

struct NotificationGatewayTests {
    private let signer: TestSigner
    private let parts: UpstreamFixture.Dependencies

    init() throws {
        signer = try TestSigner()
        var parts = UpstreamFixture.Dependencies()
        parts.signer = signer
        self.parts = parts
    }

    private static let app = #""bundleId":"com.example.coins","appAppleId":1,"environment":"Production""#

    /// A signed notification with the members given.
    private func notification(_ members: String, type: String = "NEW_ONE") throws -> String {
        try signer.sign(
            #"{"notificationType":"\#(type)","notificationUUID":"u","signedDate":1700000000000,\#(members)}"#)
    }

    @Test func `a test notification is asked for with a token, and its fate told`() async throws {
        let signed = try notification(#""data":{\#(Self.app)}"#, type: "TEST")
        let answers = Script([
            .init(#"{"testNotificationToken":"t"}"#),
            .init(#"{"signedPayload":"\#(signed)","sendAttempts":[{"attemptDate":5,"sendAttemptResult":"NEW"}]}"#),
        ])
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                #expect(try await fixture.client.requestTestNotification(fixture.call()) == "t")
                let sent = try await fixture.client.testNotification("t", fixture.call())
                #expect(sent.notification.notificationType == "TEST" && sent.notification.notificationUUID == "u")
                #expect(sent.attempts == [SendAttempt(attemptDate: 5, result: "NEW")])
                await #expect(throws: ServiceError(.internalError, "")) {
                    try await fixture.client.requestTestNotification(fixture.call(nil))
                }
            })
    }

    @Test func `a page of the history has everything verified, and the signed parts left out of the payload`()
        async throws
    {
        let transaction = try signer.transaction("7")
        let renewal = try signer.renewalInfo()
        let appTransaction = try signer.appTransaction()
        let withData = try notification(
            """
            "subtype":"S","data":{"signedTransactionInfo":"\(transaction)",\(Self.app),"signedRenewalInfo":"\(renewal)",\
            "later": 1.50},"new":[ 1 ]
            """)
        let withAppData = try notification(
            #""appData":{\#(Self.app),"signedAppTransactionInfo":"\#(appTransaction)"}"#)
        let answer = """
            {"hasMore":true,"paginationToken":"p","notificationHistory":[{"signedPayload":"\(withData)","sendAttempts":[]},\
            {"signedPayload":"\(withAppData)"}]}
            """
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(answer) },
            during: { fixture in
                let query = NotificationHistoryQuery(
                    startDate: 1, endDate: 2, notificationType: "NEW_ONE", onlyFailures: true)
                let page = try await fixture.client.notificationHistoryPage(
                    query, paginationToken: "o", fixture.call())
                #expect(page.hasMore && page.paginationToken == "p")
                let first = try #require(page.notifications.first?.notification)
                #expect(first.subtype == "S" && first.transaction?.transactionID == "7")
                #expect(first.renewalInfo?.signed == renewal && first.signed == withData)
                #expect(
                    String(decoding: first.payload, as: UTF8.self) == """
                        {"notificationType":"NEW_ONE","notificationUUID":"u","signedDate":1700000000000,"subtype":"S",\
                        "data":{\(Self.app),"later":1.50},"new":[ 1 ]}
                        """)
                let second = try #require(page.notifications.last?.notification)
                #expect(second.appTransaction?.signed == appTransaction)
                #expect(!String(decoding: second.payload, as: UTF8.self).contains(appTransaction))
                let request = try #require(fixture.server.requests.first)
                #expect(request.path == "/production/inApps/v1/notifications/history?paginationToken=o")
                #expect(
                    String(decoding: request.body, as: UTF8.self)
                        == #"{"startDate":1,"endDate":2,"notificationType":"NEW_ONE","onlyFailures":true}"#)
            })
    }

    @Test func `what does not verify on a page of the history is handed over, with what is wrong`() async throws {
        let good = try notification(#""data":{\#(Self.app)}"#)
        let foreign = try notification(
            """
            "data":{"bundleId":"com.example.gems","appAppleId":2,"environment":"Production",\
            "signedTransactionInfo":"\(try signer.transaction("7"))"}
            """)
        let unknown = try notification(#""later":{\#(Self.app)}"#)
        let answer = """
            {"hasMore":false,"notificationHistory":[{"signedPayload":"\(foreign)"},{"signedPayload":"\(good)"},\
            {"signedPayload":"\(unknown)"},{"signedPayload":"a.b.c"},{}]}
            """
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(answer) },
            during: { fixture in
                let page = try await fixture.client.notificationHistoryPage(
                    NotificationHistoryQuery(startDate: 1, endDate: 2), paginationToken: nil, fixture.call())
                #expect(page.notifications.map(\.notification.signed) == [good])
                #expect(page.unverified.map(\.signed) == [foreign, unknown, "a.b.c", ""])
                #expect(page.unverified[0].fault == "bundleId is not the app's")
                #expect(page.unverified[3].fault == "signedPayload is missing")
                let claims = page.unverified[0].claims
                #expect(claims.notificationUUID == "u" && claims.environment == .production)
                #expect(claims.signedAt == Date(milliseconds: 1_700_000_000_000))
                #expect(claims.identifiers.contains(LinkTarget(.transactionId, "7")))
                #expect(page.unverified[1].claims.environment == nil)
                #expect(page.unverified[2].claims == NotificationClaims())
                #expect(throws: ServiceError(.appleAnswerInvalid, "")) { try page.verifiedWhole() }
            })
    }

    @Test func `a part inside that is another app's fails the notification`() async throws {
        let foreign = try signer.transaction(bundleID: "com.example.gems")
        let signed = try notification(#""data":{\#(Self.app),"signedTransactionInfo":"\#(foreign)"}"#)
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(#"{"signedPayload":"\#(signed)"}"#) },
            during: { fixture in
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    try await fixture.client.testNotification("t", fixture.call())
                }
            })
    }
}
