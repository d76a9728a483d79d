import Foundation
import JSON
import Testing

/// The comparison sees what is wrong, whichever way a wrong product would be wrong.
struct CrashComparisonTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private static let fields: JSONValue = ["customerConsented": true, "consumptionPercentage": 7]

    private static func time(_ seconds: TimeInterval) -> Date { start + seconds }

    private static func receipt(
        at seconds: TimeInterval, _ body: JSONValue = fields, status: Int? = 202
    ) -> CrashEvidence.Receipt {
        CrashEvidence.Receipt(
            transactionID: "1", arrival: time(seconds), body: body.serialized(), status: status,
            isTaken: true)
    }

    private static func record(
        _ state: String = "accepted", deadline: TimeInterval = 60,
        attempts: [CrashEvidence.Attempt]? = nil,
        mayHaveReachedApple: Bool = true, reason: String? = nil, id: String = "d"
    ) -> CrashEvidence.Record {
        CrashEvidence.Record(
            id: id, transactionID: "1", state: state, deadline: time(deadline),
            attempts: attempts ?? [CrashEvidence.Attempt(startedAt: time(1), status: 202)],
            mayHaveReachedApple: mayHaveReachedApple, reason: reason)
    }

    /// A sound story: promised at once, accepted a second later.
    private static var sound: CrashEvidence {
        var evidence = CrashEvidence()
        evidence.sends = [
            CrashEvidence.Send(
                transactionID: "1", fields: fields, deadline: nil,
                answers: [CrashEvidence.Answer(status: 202, deliveryID: "d", state: "queued")])
        ]
        evidence.receipts = [receipt(at: 1)]
        evidence.records = [record()]
        return evidence
    }

    private static func stop(
        _ cause: CrashEvidence.Stop.Cause, from: TimeInterval, until: TimeInterval? = nil
    ) -> CrashEvidence.Stop {
        CrashEvidence.Stop(cause: cause, transactions: ["1"], from: time(from), until: until.map(time))
    }

    private func faults(
        _ change: (inout CrashEvidence) -> Void
    ) -> [CrashComparison.Fault] {
        var evidence = Self.sound
        change(&evidence)
        return CrashComparison(evidence).findings.map(\.fault)
    }

    @Test func `a sound story has no fault`() {
        #expect(faults { _ in } == [])
        #expect(CrashComparison(Self.sound).states == ["accepted": 1])
    }

    @Test func `what was promised and is gone, never arrived or never ended is lost`() {
        #expect(faults { ($0.records, $0.receipts) = ([], []) } == [.lost])
        #expect(faults { $0.receipts = [] } == [.lost])
        #expect(faults { $0.receipts = [Self.receipt(at: 1, status: 500)] } == [.lost])
        #expect(faults { $0.records = [Self.record("queued")] } == [.lost])
        for state in ["expired", "refused", "cancelled"] {
            #expect(
                faults { $0.records = [Self.record(state, reason: "deadline-exceeded")] } == [.lost],
                "\(state)")
        }
    }

    @Test func `an end that something called for is none`() {
        let reason = "consent-withdrawn"
        #expect(
            faults {
                $0.sends[0] = CrashEvidence.Send(
                    transactionID: "1", fields: Self.fields, deadline: Self.time(5),
                    answers: $0.sends[0].answers)
                $0.records = [Self.record("expired", deadline: 5, reason: "deadline-exceeded")]
            } == [])
        #expect(
            faults {
                $0.records = [Self.record("refused", reason: "apple-rejected")]
                $0.receipts = [Self.receipt(at: 1, status: 400)]
            } == [])
        #expect(
            faults {
                $0.stops = [Self.stop(.withdrawal, from: 2)]
                $0.records = [Self.record("cancelled", reason: reason)]
            } == [])
        #expect(
            faults {
                $0.ended = ["1"]
                $0.records = [Self.record("cancelled", reason: reason)]
            } == [])
    }

    @Test func `what is sent after its deadline is late`() {
        #expect(faults { $0.receipts.append(Self.receipt(at: 61)) } == [.late])
        let attempts = [
            CrashEvidence.Attempt(startedAt: Self.time(1), status: 202),
            CrashEvidence.Attempt(startedAt: Self.time(61), status: nil),
        ]
        #expect(faults { $0.records = [Self.record(attempts: attempts)] } == [.late])
    }

    @Test
    func `what is sent after a withdrawal was answered is unconsented, until there is consent again`() {
        #expect(
            faults {
                $0.stops = [Self.stop(.withdrawal, from: 2, until: 10)]
                $0.receipts.append(Self.receipt(at: 3))
            } == [.unconsented])
        #expect(
            faults {
                $0.stops = [Self.stop(.withdrawal, from: 2, until: 10)]
                $0.receipts.append(Self.receipt(at: 11))
            } == [])
        #expect(
            faults {
                $0.stops = [Self.stop(.rescission, from: 2, until: 10)]
                $0.receipts += [Self.receipt(at: 3), Self.receipt(at: 11)]
            } == [.unconsented])
        #expect(
            faults {
                $0.stops = [Self.stop(.decision, from: 2)]
                $0.receipts.append(Self.receipt(at: 3))
            } == [.unwanted])
        #expect(
            faults {
                $0.stops = [Self.stop(.told, from: 2)]
                $0.records = [Self.record("cancelled", reason: "case-closed")]
            } == [.lost])
    }

    @Test func `bytes that were on their way at the deadline account for one arrival each`() {
        let known = CrashEvidence.Attempt(startedAt: Self.time(0.5), status: 202)
        let unknown = CrashEvidence.Attempt(startedAt: Self.time(59), status: nil)
        for (attempts, arrivals, expected) in [
            ([known, unknown], [61], []), ([known, unknown], [61, 62], [.late]), ([known], [61], [.late]),
        ] as [([CrashEvidence.Attempt], [TimeInterval], [CrashComparison.Fault])] {
            #expect(
                faults {
                    $0.records = [Self.record(attempts: attempts)]
                    $0.receipts += arrivals.map { Self.receipt(at: $0) }
                } == expected, "\(attempts.count) attempts, arrivals at \(arrivals)")
        }
    }

    @Test
    func
        `a refusal or an end without a reason is silent, and so is a delivery that nobody was told of`()
    {
        #expect(faults { $0.sends[0].answers.append(CrashEvidence.Answer(status: 503)) } == [.silent])
        #expect(faults { $0.sends[0].answers.append(CrashEvidence.Answer(status: 202)) } == [.silent])
        #expect(
            faults {
                $0.ended = ["1"]
                $0.records = [Self.record("cancelled")]
            } == [.silent])
        #expect(
            faults { $0.sends[0].answers = [CrashEvidence.Answer(status: 409, reason: "no-open-case")] }
                == [.silent])
        #expect(faults { $0.sends[0].answers = [] } == [.silent, .silent])
    }

    @Test func `other bytes, a second delivery and a state that is not true are seen`() {
        #expect(
            faults { $0.receipts.append(Self.receipt(at: 2, ["customerConsented": true])) } == [.altered])
        #expect(
            faults { $0.receipts = [Self.receipt(at: 2, ["customerConsented": true])] } == [.altered])
        #expect(faults { $0.records.append(Self.record(id: "e")) } == [.doubled, .silent])
        #expect(
            faults {
                $0.sends[0].answers.append(
                    CrashEvidence.Answer(status: 200, deliveryID: "d", state: "refused"))
            } == [.untrue])
        #expect(
            faults {
                $0.ended = ["1"]
                $0.records = [Self.record("cancelled", mayHaveReachedApple: false, reason: "case-closed")]
            } == [.untrue])
        #expect(faults { $0.sends = [] } == [.untrue])
        #expect(
            faults { ($0.followedEvents, $0.allEvents) = (["1", "3"], ["1", "2", "3"]) } == [.missed])
    }

    @Test func `what is sent while it is being sent is twice`() {
        func receipt(_ from: TimeInterval, _ to: TimeInterval, status: Int? = 500) -> CrashEvidence.Receipt {
            var receipt = Self.receipt(at: from, status: status)
            receipt.end = Self.time(to)
            return receipt
        }
        #expect(faults { $0.receipts = [receipt(1, 3), receipt(2, 4, status: 202)] } == [.twice])
        #expect(faults { $0.receipts = [receipt(1, 2), receipt(3, 4, status: 202)] } == [])
        // The sender had lost it before the other.
        for (end, expected) in [(1.5, []), (2.5, [.twice])] as [(TimeInterval, [CrashComparison.Fault])] {
            let lost = CrashEvidence.Attempt(startedAt: Self.time(0.9), endedAt: Self.time(end), status: nil)
            #expect(
                faults {
                    $0.receipts = [receipt(1, 3), receipt(2, 4, status: 202)]
                    $0.records = [Self.record(attempts: [lost, .init(startedAt: Self.time(1.9), status: 202)])]
                } == expected, "\(end)")
        }
        // Whose sender is gone nobody can tell when it was.
        #expect(faults { $0.receipts = [receipt(1, 3, status: nil), receipt(2, 4, status: 202)] } == [])
    }

    @Test func `the last line of the report has the figures`() {
        var evidence = Self.sound
        evidence.receipts.append(Self.receipt(at: 61))
        let report = CrashReport(seed: 5, kills: 3, comparison: CrashComparison(evidence), details: [])
        #expect(report.description.hasSuffix("\nkills=3 deliveries=1 lost=0 late=1 unconsented=0 twice=0"))
    }
}
