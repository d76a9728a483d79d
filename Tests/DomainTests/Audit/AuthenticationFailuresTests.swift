import TestSupport
import Testing

@testable import Domain

struct AuthenticationFailuresTests {
    private let audit = RememberedAudit()

    private func counted() -> [String: String] {
        Dictionary(
            audit.acts(.authenticationFailuresCounted).map { ($0.details["source"] ?? "", $0.details["count"] ?? "") }
        ) { $1 }
    }

    @Test func `the first failures of a source have a record each, the rest of a flood its number`() {
        let failures = AuthenticationFailures(audit: audit)
        for _ in 0..<1000 { failures.note(from: "10.0.0.1", claim: "shop") }
        failures.note(from: nil, claim: nil)
        let records = audit.acts(.authenticationFailed)
        #expect(records.count == AuthenticationFailures.recordedPerSource + 1)
        #expect(records.first?.actor == .unauthenticated)
        #expect(records.first?.details == ["source": "10.0.0.1", "claim": "shop"])
        #expect(records.last?.details == ["source": "unknown"])
        failures.tell()
        #expect(counted() == ["10.0.0.1": String(1000 - AuthenticationFailures.recordedPerSource)])
        failures.tell()
        #expect(audit.acts(.authenticationFailuresCounted).count == 1, "a quiet minute has no record")
        failures.note(from: "10.0.0.1", claim: nil)
        #expect(audit.acts(.authenticationFailed).count == records.count + 1, "the next minute begins anew")
    }

    @Test func `a flood from everywhere is bounded too, and every failure is counted once`() {
        let failures = AuthenticationFailures(audit: audit)
        for number in 0..<5000 { failures.note(from: "10.0.\(number / 250).\(number % 250)", claim: nil) }
        #expect(audit.acts(.authenticationFailed).count == AuthenticationFailures.recordedPerWindow)
        failures.tell()
        let counts = counted().values.compactMap(Int.init)
        #expect(counts.count <= AuthenticationFailures.maximumSources + 1)
        #expect(counts.reduce(0, +) == 5000 - AuthenticationFailures.recordedPerWindow)
    }

    @Test func `where nothing can be recorded a failure is a failure all the same`() {
        audit.fail()
        let failures = AuthenticationFailures(audit: audit)
        failures.note(from: "10.0.0.1", claim: nil)
        failures.tell()
        #expect(audit.acts.isEmpty)
    }
}
