import Testing

@testable import AppStoreClient

struct RetryPolicyTests {
    private func policy(random: Double) -> RetryPolicy {
        RetryPolicy(maximumAttempts: 3, base: .milliseconds(200), cap: .milliseconds(300), random: { random })
    }

    @Test func `the wait is drawn between nothing and a bound that doubles up to the cap`() {
        let remaining = Duration.seconds(60)
        #expect(policy(random: 0).delay(after: 1, notBefore: nil, remaining: remaining) == .zero)
        #expect(policy(random: 0.5).delay(after: 1, notBefore: nil, remaining: remaining) == .milliseconds(100))
        #expect(policy(random: 0.5).delay(after: 2, notBefore: nil, remaining: remaining) == .milliseconds(150))
    }

    @Test func `after three attempts there is no fourth`() {
        #expect(policy(random: 0).delay(after: 2, notBefore: nil, remaining: .seconds(60)) != nil)
        #expect(policy(random: 0).delay(after: 3, notBefore: nil, remaining: .seconds(60)) == nil)
    }

    @Test func `no wait is shorter than Apple asks for, and none outlasts the deadline`() {
        let policy = policy(random: 0.5)
        #expect(policy.delay(after: 1, notBefore: .seconds(2), remaining: .seconds(3)) == .seconds(2))
        #expect(policy.delay(after: 1, notBefore: .seconds(2), remaining: .seconds(2)) == nil)
        #expect(policy.delay(after: 1, notBefore: nil, remaining: .milliseconds(100)) == nil)
    }
}
