import Testing

@testable import Domain

struct DeliveryBackoffTests {
    private func backoff(random: Double) -> DeliveryBackoff {
        DeliveryBackoff(base: .milliseconds(200), cap: .seconds(300), random: { random })
    }

    @Test func `the bound doubles up to the cap, and the wait is drawn below it`() {
        let waits = [0, 1, 2, 3, 11, 12, 1_000_000].map {
            backoff(random: 0.5).delay(after: $0, notBefore: nil, atLeast: .zero, remaining: .seconds(40_000))
        }
        #expect(
            waits == [
                .milliseconds(100), .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(102_400),
                .seconds(150), .seconds(150),
            ])
        #expect(
            backoff(random: 0).delay(after: 5, notBefore: nil, atLeast: .zero, remaining: .seconds(10)) == .zero)
    }

    @Test func `Apple's wish outlasts what is drawn`() {
        let wait = backoff(random: 0.9).delay(after: 1, notBefore: .seconds(7), atLeast: .zero, remaining: .seconds(10))
        #expect(wait == .seconds(7))
    }

    @Test func `our own least wait holds unless the time is short`() {
        let backoff = backoff(random: 0)
        #expect(
            backoff.delay(after: 1, notBefore: nil, atLeast: .seconds(5), remaining: .seconds(60)) == .seconds(5))
        #expect(backoff.delay(after: 1, notBefore: nil, atLeast: .seconds(5), remaining: .seconds(6)) == .seconds(3))
    }

    @Test func `a wait of our own takes at most half of what is left, so that another attempt fits`() {
        let wait = backoff(random: 0.99).delay(after: 30, notBefore: nil, atLeast: .zero, remaining: .seconds(100))
        #expect(wait == .seconds(50))
    }

    @Test(arguments: [Duration.seconds(10), .seconds(11), .seconds(Int64.max / 2)])
    func `a wish to wait beyond the deadline leaves room for another attempt`(notBefore: Duration) {
        let wait = backoff(random: 0.5).delay(
            after: 1, notBefore: notBefore, atLeast: .zero, remaining: .seconds(10))
        #expect(wait == .seconds(5))
    }

    @Test func `there is no further attempt when next to nothing is left`() {
        for remaining in [Duration.milliseconds(200), .zero, .seconds(-1)] {
            #expect(
                backoff(random: 0).delay(after: 1, notBefore: nil, atLeast: .zero, remaining: remaining) == nil)
        }
    }
}
