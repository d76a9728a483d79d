import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import Testing

struct TokenOwnerTests {
    @Test func `a user whose id is the signed token needs no link to be the owner`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let user = UUID().uuidString.lowercased()
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let gems = try #require(try fixture.buy(account, token: user).transactionId)
            _ = try await fixture.consent(user, true)
            _ = try await fixture.requestRefund(of: gems)
            let answered = try await fixture.send(
                "POST", "\(DaemonFixture.app)/users/\(user)/consumption",
                body: DaemonFixture.consumption())
            #expect(answered.status == 200, "\(String(decoding: answered.body, as: UTF8.self))")
        }
    }
    @Test func `a withdrawal stands for every purchase whose signed token the user is`() async throws {
        try await DaemonFixture.with { fixture in
            let user = UUID().uuidString.lowercased()
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let gems = try #require(try fixture.buy(account, token: user).transactionId)
            _ = try await fixture.consent(user, false)
            let refused = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                body: DaemonFixture.consumption())
            #expect(refused.status == 409, "\(String(decoding: refused.body, as: UTF8.self))")
            #expect(fixture.received(gems).isEmpty)
        }
    }
}
