import Domain
import Synchronization
import Testing

/// How guessing is slowed down.
final class FailedAttemptsTests: Sendable {
    private let time = Mutex(ContinuousClock.now)

    private func attempts() -> FailedAttempts {
        FailedAttempts { [self] in time.withLock(\.self) }
    }

    @Test func `a source may fail so often in a minute, each by itself`() {
        let attempts = attempts()
        for _ in 0..<FailedAttempts.allowedPerWindow { #expect(attempts.note(from: "192.0.2.1", claim: nil) == nil) }
        #expect(attempts.note(from: "192.0.2.1", claim: nil) != nil)
        #expect(attempts.note(from: "192.0.2.2", claim: nil) == nil)
        time.withLock { $0 += .seconds(60) }
        #expect(attempts.note(from: "192.0.2.1", claim: nil) == nil)
    }

    @Test func `the addresses of one IPv6 network are one source`() {
        let attempts = attempts()
        for number in 1...FailedAttempts.allowedPerWindow {
            #expect(attempts.note(from: "2001:db8:0:1::\(number)", claim: nil) == nil)
        }
        #expect(attempts.note(from: "2001:db8:0:1:ffff::1", claim: nil) != nil)
        #expect(attempts.note(from: "2001:db8:0:2::1", claim: nil) == nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("2001:DB8::5", "2001:db8:0:0::/64"), ("::1", "0:0:0:0::/64"), ("unix", "unix"), ("", ""),
    ])
    func `an address is counted by its network`(address: String, network: String) {
        #expect(SourceNetwork.name(of: address) == network)
    }

    @Test func `failures in the name of one caller count together, wherever they come from`() {
        let attempts = attempts()
        for number in 0..<FailedAttempts.allowedPerWindow {
            #expect(attempts.note(from: "192.0.2.\(number)", claim: "token:Ab12Cd34") == nil)
        }
        #expect(attempts.note(from: "192.0.2.200", claim: "token:Ab12Cd34") != nil)
        #expect(attempts.note(from: "192.0.2.200", claim: "token:Zz12Cd34") == nil)
    }

    @Test func `what is counted is bounded, and nobody is forgotten because others came`() {
        let attempts = attempts()
        for _ in 0...FailedAttempts.allowedPerWindow { _ = attempts.note(from: "192.0.2.1", claim: nil) }
        for number in 0..<FailedAttempts.maximumCounts { _ = attempts.note(from: "source-\(number)", claim: nil) }
        #expect(attempts.note(from: "192.0.2.1", claim: nil) != nil, "known before the flood")
        for number in 0..<FailedAttempts.allowedPerWindow { _ = attempts.note(from: "late-\(number)", claim: nil) }
        #expect(attempts.note(from: "another", claim: nil) != nil, "those beyond count together")
    }

    @Test func `copies of the daemon share what is allowed`() {
        let copies = LivingCopies()
        copies.note(3)
        let attempts = FailedAttempts(copies: copies)
        for _ in 0..<(FailedAttempts.allowedPerWindow / 3) {
            #expect(attempts.note(from: "192.0.2.1", claim: nil) == nil)
        }
        #expect(attempts.note(from: "192.0.2.1", claim: nil) != nil)
    }
}
