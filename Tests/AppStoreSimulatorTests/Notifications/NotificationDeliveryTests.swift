import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import Testing

/// Notifications from the control port to a team's server.
struct NotificationDeliveryTests {
    @Test func `a notification arrives signed with the purchase as it is`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                let bundleID = SimulatorFixture.bundleID
                let purchase = try fixture.buyOnce()
                let urls = try await fixture.control(
                    "PUT", "/apps/\(bundleID)/notification-urls", ["sandbox": .string(receiver.url)])
                #expect(urls.status == 204)
                let answer = try await fixture.control(
                    "POST", "/notifications",
                    [
                        "notificationType": "CONSUMPTION_REQUEST", "consumptionRequestReason": "LEGAL",
                        "transactionId": .string(try #require(purchase.transactionId)),
                    ])
                #expect(answer.status == 201)
                try await fixture.waitForAttempts(1)
                let payload = try #require(try fixture.received(receiver).first)
                #expect(payload.notificationType == .consumptionRequest && payload.subtype == nil)
                #expect(payload.version == "2.0" && payload.signedDate == fixture.clock.milliseconds)
                #expect(payload.data?.bundleId == bundleID && payload.data?.environment == .sandbox)
                #expect(payload.data?.appAppleId == nil && payload.data?.consumptionRequestReason == .legal)
                let uuid = try #require(payload.notificationUUID)
                #expect(UUID(uuidString: uuid) != nil && uuid == uuid.lowercased())
                let transaction = try fixture.verified(payload.data?.signedTransactionInfo)
                #expect(transaction.transactionId == purchase.transactionId)
                let listed = try await fixture.control("GET", "/notifications?bundleId=\(bundleID)")
                let entry = try JSONValue(parsing: listed.body)["notifications"]?[0]
                #expect(entry?["notificationUUID"]?.string == uuid)
                #expect(entry?["sendAttempts"]?[0]?["sendAttemptResult"]?.string == "SUCCESS")
            }
        }
    }

    @Test func `what happens to a subscription is notified of as it happens`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.notify(receiver)
                let account = try fixture.state.createAccount(in: .sandbox)
                let id = try #require(
                    try fixture.buy(by: account.id) { purchase in
                        purchase.type = .autoRenewableSubscription
                        purchase.productId = "gold"
                    }.transactionId)
                let renewed = try #require(try fixture.state.renew(id).transactionId)
                _ = try fixture.state.refund(renewed)
                _ = try fixture.state.reverseRefund(renewed)
                try await fixture.waitForAttempts(4)
                let notifications = fixture.state.notifications
                #expect(notifications.map(\.draft.type) == [.subscribed, .didRenew, .refund, .refundReversed])
                #expect(notifications.map(\.draft.subtype) == [.initialBuy, nil, nil, nil])
                #expect(notifications.map(\.draft.transactionID) == [id, renewed, renewed, renewed])
                let data = try notifications.map { try fixture.verifiedNotification($0.signedPayload).data }
                #expect(data.map(\.?.status) == [.active, .active, .revoked, .active])
                let refunds = try data.map { try fixture.verified($0?.signedTransactionInfo).revocationDate != nil }
                #expect(refunds == [false, false, true, false])
                let renewals = try data.map { try fixture.verifiedPayload($0?.signedRenewalInfo) }
                #expect(try renewals.allSatisfy { try RenewalInfoPayload(parsing: $0).originalTransactionId == id })
            }
        }
    }

    @Test func `production notifications name the app`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200), encrypted: true) { receiver in
                try fixture.notify(receiver, in: .production)
                try fixture.state.notify(
                    NotificationDraft(
                        .refund, of: SimulatorFixture.bundleID, in: .production, about: .data(NotifiedPurchase())))
                try await fixture.waitForAttempts(1)
                let payload = try #require(try fixture.received(receiver).first)
                #expect(payload.data?.appAppleId == 1_234_567_890 && payload.data?.environment == .production)
            }
        }
    }

    @Test func `any type can be sent with any subject`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                let id = try #require(try fixture.buyOnce().transactionId)
                try fixture.notify(receiver)
                let app: [(String, JSONValue)] = [
                    ("bundleId", .string(SimulatorFixture.bundleID)), ("environment", "Sandbox"),
                ]
                let bodies: [[(String, JSONValue)]] = [
                    app + [("notificationType", "FROM_THE_FUTURE"), ("subtype", "NEVER_SEEN")],
                    app + [
                        ("notificationType", "RENEWAL_EXTENSION"), ("subtype", "SUMMARY"),
                        ("summary", ["productId": "gold", "succeededCount": 5]),
                    ],
                    app + [
                        ("notificationType", "EXTERNAL_PURCHASE_TOKEN"), ("subtype", "UNREPORTED"),
                        ("externalPurchaseToken", ["externalPurchaseId": "SANDBOX_1"]),
                    ],
                    [("notificationType", "RESCIND_CONSENT"), ("transactionId", .string(id))],
                ]
                for (index, body) in bodies.enumerated() {
                    let answer = try await fixture.control("POST", "/notifications", .object(JSONObject(body)))
                    #expect(answer.status == 201)
                    try await fixture.waitForAttempts(index + 1)
                }
                let payloads = try fixture.received(receiver)
                #expect(payloads[0].notificationType?.rawValue == "FROM_THE_FUTURE")
                #expect(payloads[0].subtype?.rawValue == "NEVER_SEEN" && payloads[0].data != nil)
                #expect(payloads[1].summary?.succeededCount == 5 && payloads[1].data == nil)
                #expect(payloads[1].summary?.bundleId == SimulatorFixture.bundleID)
                #expect(payloads[2].externalPurchaseToken?.externalPurchaseId == "SANDBOX_1")
                let appTransaction = try AppTransactionPayload(
                    parsing: fixture.verifiedPayload(payloads[3].appData?.signedAppTransactionInfo))
                #expect(appTransaction.bundleId == SimulatorFixture.bundleID)
                #expect(payloads[3].data == nil)
            }
        }
    }

    @Test func `tampered notifications do not pass for sound ones`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.notify(receiver)
                for tampering in Tampering.allCases {
                    var draft = NotificationDraft(
                        .test, of: SimulatorFixture.bundleID, in: .sandbox, about: .data(NotifiedPurchase()))
                    draft.tampering = tampering
                    try fixture.state.notify(draft)
                }
                try await fixture.waitForAttempts(Tampering.allCases.count)
                for notification in fixture.state.notifications {
                    switch notification.draft.tampering {
                    case .wrongBundleId:
                        let payload = try fixture.verifiedNotification(notification.signedPayload)
                        #expect(payload.data?.bundleId != SimulatorFixture.bundleID)
                    case .wrongEnvironment:
                        let payload = try fixture.verifiedNotification(notification.signedPayload)
                        #expect(payload.data?.environment == .production)
                    default:
                        #expect(throws: (any Error).self) {
                            try fixture.verifiedNotification(notification.signedPayload)
                        }
                    }
                }
            }
        }
    }

    @Test func `the sandbox tries once`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(503)) { receiver in
                try fixture.notify(receiver)
                let sent = try fixture.state.notify(
                    NotificationDraft(
                        .refund, of: SimulatorFixture.bundleID, in: .sandbox, about: .data(NotifiedPurchase())))
                #expect(sent != nil)
                try await fixture.waitForAttempts(1)
                let notification = try #require(fixture.state.notifications.first)
                #expect(notification.attempts.map(\.result) == [.unsuccessfulHTTPResponseCode])
                #expect(notification.nextAttemptDate == nil)
            }
        }
    }

    @Test func `what the control port cannot do it says`() async throws {
        try await SimulatorFixture.with { fixture in
            let app = "/apps/\(SimulatorFixture.bundleID)/notification-urls"
            let bodies: [(String, String, JSONValue, Int)] = [
                ("PUT", app, ["sandbox": "ftp://example.com"], 400),
                ("PUT", app, ["sandbox": "https://example.com", "certificateAuthorities": "none"], 400),
                ("PUT", "/apps/com.example.other/notification-urls", [:], 404),
                ("GET", "/apps/com.example.other/notification-urls", [:], 404),
                ("POST", "/notifications", ["notificationType": "TEST"], 400),
                ("POST", "/notifications", ["notificationType": "TEST", "transactionId": "1"], 404),
                (
                    "POST", "/notifications",
                    [
                        "notificationType": "TEST", "bundleId": .string(SimulatorFixture.bundleID),
                        "environment": "Sandbox",
                    ],
                    409
                ),
                (
                    "POST", "/notifications",
                    [
                        "notificationType": "TEST", "bundleId": .string(SimulatorFixture.bundleID),
                        "environment": "Sandbox", "tampering": "none",
                    ], 400
                ),
                ("PUT", "/notification-settings", ["timeoutMilliseconds": 0], 400),
                ("PUT", "/notification-settings", ["timeoutMilliseconds": 700], 204),
                ("GET", "/notifications?what=ever", [:], 400),
            ]
            for (method, path, body, status) in bodies {
                let answer = try await fixture.control(method, path, body)
                #expect(answer.status == status, "\(method) \(path) \(body)")
            }
            #expect(fixture.state.notificationTimeout == .milliseconds(700))
        }
    }
}
