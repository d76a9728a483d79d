import AppStoreAPI
import AppStoreSimulator
import Foundation
import Testing

/// Request a Test Notification and Get Test Notification Status.
struct TestNotificationTests {
    @Test func `a test is really sent and its status can be read`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(204)) { receiver in
                try fixture.notify(receiver)
                let answer = try await fixture.answer(
                    SendTestNotificationResponse.self, .requestTestNotification())
                let token = try #require(answer.testNotificationToken)
                try await fixture.waitForAttempts(1)
                let payload = try #require(try fixture.received(receiver).first)
                #expect(payload.notificationType == .test && payload.data?.signedTransactionInfo == nil)
                #expect(payload.data?.bundleId == SimulatorFixture.bundleID)
                let status = try await fixture.answer(
                    CheckTestNotificationResponse.self, .getTestNotificationStatus(testNotificationToken: token))
                #expect(status.sendAttempts?.map(\.sendAttemptResult) == [.success])
                #expect(try fixture.verifiedNotification(status.signedPayload) == payload)
                try await fixture.expect(
                    .testNotificationNotFound, from: .getTestNotificationStatus(testNotificationToken: token),
                    in: .production)
                fixture.clock.advance(by: 200 * 86_400)
                try await fixture.expect(
                    .testNotificationNotFound, from: .getTestNotificationStatus(testNotificationToken: token))
            }
        }
    }

    @Test func `without a URL there is no test`() async throws {
        try await SimulatorFixture.with { fixture in
            try await fixture.expect(.serverNotificationURLNotFound, from: .requestTestNotification())
        }
    }

    @Test func `a URL of the other environment does not count`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.notify(receiver, in: .production)
                try await fixture.expect(.serverNotificationURLNotFound, from: .requestTestNotification())
            }
        }
    }

    @Test(arguments: [
        "x", "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11", "7e3fb204_1", "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11_x",
    ])
    func `a token without Apple's form is invalid`(token: String) async throws {
        try await SimulatorFixture.with { fixture in
            try await fixture.expect(
                .invalidTestNotificationToken, from: .getTestNotificationStatus(testNotificationToken: token))
        }
    }

    @Test func `a token that nobody gave out is not found`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11_1800000000"
            try await fixture.expect(
                .testNotificationNotFound, from: .getTestNotificationStatus(testNotificationToken: token))
        }
    }
}
