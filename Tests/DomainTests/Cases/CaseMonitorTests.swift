import Domain
import Foundation
import Logging
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

struct CaseMonitorTests {
    @Test func `an open case is warned of once at each threshold, and expires at its deadline`() async throws {
        try await CaseMonitorFixture.with { fixture in
            let opened = try await fixture.base.openCase(.sample(id: "1"))
            try await fixture.monitoring {
                try await fixture.pass(hours: 5.9)
                #expect(fixture.minutesWarned.isEmpty)
                try await fixture.pass(hours: 0.1)
                #expect(fixture.minutesWarned == ["360"])
                for _ in 1...3 { try await fixture.pass(hours: 1) }
                #expect(fixture.minutesWarned == ["360"])
                try await fixture.pass(hours: 2)
                #expect(fixture.minutesWarned == ["360", "60"])
                var state = try await fixture.state(of: opened)
                #expect(state == .open)
                try await fixture.pass(hours: 1)
                state = try await fixture.state(of: opened)
                #expect(state == .expired)
            }
            let warning = try #require(fixture.log.lines("still without an answer").first)
            #expect(warning.level == .warning)
            #expect(warning.metadata["case"] == opened.id && warning.metadata["app"] == "coins")
            #expect(fixture.minutesWarned.count == 2)
            #expect(fixture.log.lines("have expired").map(\.metadata) == [["app": "coins", "cases": "1"]])
        }
    }

    @Test func `a tester's case is told, and is no warning`() async throws {
        try await CaseMonitorFixture.with { fixture in
            _ = try await fixture.base.openCase(.sample(id: "1", environment: .sandbox))
            try await fixture.monitoring {
                try await fixture.pass(hours: 6)
                #expect(fixture.minutesWarned == ["360"])
            }
            #expect(fixture.log.lines("still without an answer").map(\.level) == [.info])
        }
    }

    @Test func `a case that comes late is warned of at once, and only as near as it is`() async throws {
        try await CaseMonitorFixture.with { fixture in
            let base = fixture.base
            _ = try await base.openCase(.sample(id: "1"), signedAt: base.now.addingTimeInterval(-11.5 * 3600))
            try await fixture.monitoring {
                #expect(fixture.minutesWarned == ["30"])
                try await fixture.pass(.seconds(60))
                #expect(fixture.minutesWarned == ["30"])
            }
        }
    }

    @Test func `whole pages of cases are warned of and expire, but not those that are over`() async throws {
        try await CaseMonitorFixture.with { fixture in
            let count = CaseQuery.maximumPageSize + 5
            for number in 1...count {
                _ = try await fixture.base.openCase(.sample(id: "\(number)"), uuid: "u\(number)")
            }
            let declined = try await fixture.base.openCase(.sample(id: "declined"))
            _ = try await fixture.store.decline(
                app: "coins", id: declined.id, RefundCase.Decline(caller: "c", note: nil, at: fixture.base.now))
            try await fixture.base.notify("REFUND", .sample(id: "2"), signedAt: fixture.base.now.addingTimeInterval(60))
            try await fixture.monitoring {
                try await fixture.pass(hours: 7)
                let warned = fixture.log.lines("still without an answer").compactMap { $0.metadata["case"] }
                #expect(warned.count == count - 1 && Set(warned).count == count - 1)
                #expect(!warned.contains(declined.id))
                try await fixture.pass(hours: 6)
            }
            #expect(fixture.log.lines("have expired").map { $0.metadata["cases"] } == ["\(count - 1)"])
            #expect(try await fixture.state(of: declined) == .declined)
        }
    }
}

/// What policies answer.
struct PolicyResponderTests {
    @Test func `a policy answers so long before the deadline, once, if the owner's consent is on record`() async throws
    {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 2)]) { fixture in
            try await fixture.consent(of: "alice", to: "1")
            let opened = try await fixture.base.openCase(.sample(id: "1"))
            try await fixture.monitoring {
                try await fixture.pass(hours: 9.9)
                #expect(try await fixture.deliveries.isEmpty)
                try await fixture.pass(hours: 0.2)
                let delivery = try #require(try await fixture.deliveries.first)
                #expect(delivery.caller == RefundPolicy.caller && delivery.caseID == opened.id)
                #expect(delivery.user == (try UserID("alice")) && delivery.deadline == opened.deadline)
                for _ in 1...3 { try await fixture.pass(.seconds(60)) }
                #expect(try await fixture.deliveries.count == 1)
            }
            #expect(fixture.log.lines("A policy has answered").count == 1)
        }
    }

    @Test func `without consent on record nothing is answered, and with it soon`() async throws {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 12)]) { fixture in
            try await fixture.base.link("1", to: "alice")
            _ = try await fixture.base.openCase(.sample(id: "1"))
            _ = try await fixture.base.openCase(.sample(id: "nobody's"))
            try await fixture.consent(of: "bob", to: "2")
            try await fixture.base.record("bob", isConsented: false)
            _ = try await fixture.base.openCase(.sample(id: "2"))
            try await fixture.monitoring {
                try await fixture.pass(.seconds(60))
                #expect(try await fixture.deliveries.isEmpty)
                try await fixture.base.record("alice", isConsented: true)
                try await fixture.pass(.seconds(60))
                try await fixture.pass(.seconds(10))
                #expect(try await fixture.deliveries.map(\.transactionID) == ["1"])
            }
        }
    }

    @Test func `in the Sandbox it answers at once, and only for apps that have a policy`() async throws {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 1)]) { fixture in
            for id in ["1", "2"] { try await fixture.consent(of: "alice", to: id) }
            _ = try await fixture.base.openCase(.sample(id: "1", environment: .sandbox))
            _ = try await fixture.base.openCase(.sample(id: "2"))
            try await fixture.monitoring {
                let deliveries = try await fixture.deliveries
                #expect(deliveries.map(\.transactionID) == ["1"])
                #expect(deliveries.map(\.environment) == [.sandbox])
            }
        }
        try await CaseMonitorFixture.with(policies: ["gems": CaseMonitorFixture.policy()]) { fixture in
            try await fixture.consent(of: "alice", to: "1")
            _ = try await fixture.base.openCase(.sample(id: "1", environment: .sandbox))
            try await fixture.monitoring {}
            #expect(try await fixture.deliveries.isEmpty)
        }
    }

    @Test func `what somebody declined or is answering is left alone`() async throws {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 12)]) { fixture in
            for id in ["1", "2"] { try await fixture.consent(of: "alice", to: id) }
            let declined = try await fixture.base.openCase(.sample(id: "1"))
            _ = try await fixture.store.decline(
                app: "coins", id: declined.id, RefundCase.Decline(caller: "c", note: nil, at: fixture.base.now))
            let answered = try await fixture.base.openCase(.sample(id: "2"))
            _ = try await fixture.base.send(.refundCase(answered.id))
            try await fixture.monitoring { try await fixture.pass(.seconds(60)) }
            #expect(try await fixture.deliveries.map(\.caller) == ["billing"])
        }
    }

    @Test func `a policy answers a case once, also over a restart`() async throws {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 12)]) { fixture in
            try await fixture.consent(of: "alice", to: "1")
            _ = try await fixture.base.openCase(.sample(id: "1"))
            try await fixture.monitoring { try await fixture.pass(.seconds(10)) }
            let delivery = try #require(try await fixture.deliveries.first)
            _ = try await fixture.base.deliveries.cancel(app: DeliveryFixture.app, id: delivery.id, caller: "support")
            try await fixture.monitoring { try await fixture.pass(.seconds(60)) }
            #expect(try await fixture.deliveries.map(\.state) == [.cancelled])
        }
    }

    @Test func `the percentage that a policy states is left out about subscriptions`() async throws {
        let policy = CaseMonitorFixture.policy(hours: 12, percentage: 50_000)
        try await CaseMonitorFixture.with(policies: ["coins": policy]) { fixture in
            try await fixture.consent(of: "alice", to: "1")
            _ = try await fixture.base.openCase(.sample(id: "1", type: .autoRenewableSubscription))
            try await fixture.monitoring { try await fixture.pass(.seconds(60)) }
            let body = try #require(try await fixture.deliveries.first).body
            #expect(String(decoding: body, as: UTF8.self).contains("consumptionPercentage: nil"))
        }
    }

    @Test func `a rule answers from what was reported, and its delivery tells which and from what`() async throws {
        var used = RefundMatch()
        used.consumptionPercentage = .init(atLeast: 1)
        let policy = RefundPolicy(rules: [
            RefundRule(name: "used", match: used, outcome: .answer(.decline, .init()), lead: nil),
            RefundRule(name: "unused", outcome: .answer(.grantFull, .init()), lead: nil),
        ])
        try await CaseMonitorFixture.with(policies: ["coins": policy]) { fixture in
            for id in ["1", "2", "3"] { try await fixture.consent(of: "alice", to: id) }
            try await fixture.report("1", 40_000)
            try await fixture.report("2", 0)
            for id in ["1", "2", "3"] { _ = try await fixture.base.openCase(.sample(id: id)) }
            try await fixture.monitoring {
                let deliveries = try await fixture.deliveries
                let preferences = Dictionary(
                    uniqueKeysWithValues: deliveries.map { ($0.transactionID, $0.refundPreference) })
                #expect(preferences == ["1": .decline, "2": .grantFull])
                let policy = try #require(deliveries.first { $0.transactionID == "1" }?.policy)
                #expect(policy.rule == "used" && policy.usageAt == fixture.base.now)
                #expect(policy.facts == ["consumptionPercentage", "deliveryStatus", "sampleContentProvided"])
                // What nobody reported is not answered, until somebody does.
                try await fixture.report("3", 0)
                try await fixture.pass(.seconds(60))
                try await fixture.pass(.seconds(10))
                #expect(try await fixture.deliveries.count == 3)
            }
        }
    }

    @Test func `where no rule applies the log says why of each rule, once of each case`() async throws {
        var elsewhere = RefundMatch()
        elsewhere.consumptionPercentage = .init(atLeast: 1)
        let rules = (1...7).map { RefundRule(name: "rule-\($0)", match: elsewhere, outcome: .silence, lead: nil) }
        let answers = RefundRule(name: "unknown", outcome: .answer(.decline, .init()), lead: nil)
        try await CaseMonitorFixture.with(policies: ["coins": RefundPolicy(rules: [answers] + rules)]) { fixture in
            for id in ["1", "2"] { _ = try await fixture.base.openCase(.sample(id: id)) }
            try await fixture.monitoring {
                for _ in 0..<3 { try await fixture.pass(.seconds(60)) }
            }
            let lines = fixture.log.lines("No rule of the policy applies")
            #expect(lines.count == 2 && lines.allSatisfy { $0.level == .info })
            #expect(Set(lines.compactMap { $0.metadata["case"] }).count == 2)
            let reasons = try #require(lines.first?.metadata["rules"])
            #expect(reasons.hasPrefix("unknown: `deliveryStatus` is not known; rule-1: "), "\(reasons)")
            #expect(reasons.hasSuffix("; 3 more") && !reasons.contains("rule-5"))
        }
    }

    @Test func `a rule of silence declines the case, when its time has come`() async throws {
        let policy = RefundPolicy(rules: [RefundRule(name: "never", outcome: .silence)])
        try await CaseMonitorFixture.with(policies: ["coins": policy]) { fixture in
            let opened = try await fixture.base.openCase(.sample(id: "1"))
            try await fixture.monitoring {
                try await fixture.pass(hours: 10.9)
                #expect(try await fixture.state(of: opened) == .open)
                try await fixture.pass(hours: 0.2)
                let declined = try #require(try await fixture.store.refundCase(app: "coins", id: opened.id))
                #expect(declined.state == .declined && declined.decline?.note == "never")
                #expect(declined.decline?.caller == RefundPolicy.caller)
            }
            #expect(try await fixture.deliveries.isEmpty)
        }
    }

    @Test func `refunds of other purchases count, and those taken back do not`() async throws {
        var often = RefundMatch()
        often.refunds = .init(atLeast: 2)
        let policy = RefundPolicy(rules: [
            RefundRule(name: "often", match: often, outcome: .answer(.decline, .everything), lead: nil),
            RefundRule(name: "rest", outcome: .answer(.grantFull, .everything), lead: nil),
        ])
        try await CaseMonitorFixture.with(policies: ["coins": policy]) { fixture in
            for id in ["1", "2", "3", "4"] { try await fixture.consent(of: "alice", to: id) }
            for id in ["1", "2"] {
                try await fixture.store.take(.sample("refund-\(id)", type: "REFUND", transaction: .sample(id: id)))
            }
            _ = try await fixture.base.openCase(.sample(id: "3"))
            try await fixture.monitoring {}
            try await fixture.store.take(
                .sample("back", type: "REFUND_REVERSED", at: 1, transaction: .sample(id: "1")))
            _ = try await fixture.base.openCase(.sample(id: "4"))
            try await fixture.monitoring {}
            #expect(
                Dictionary(
                    uniqueKeysWithValues: try await fixture.deliveries.map { ($0.transactionID, $0.policy?.rule) })
                    == ["3": "often", "4": "rest"])
        }
    }

    @Test func `however many wait for consent, an older case has its turn`() async throws {
        let policy = RefundPolicy(rules: [RefundRule(name: "all", outcome: .answer(nil, .everything), lead: nil)])
        try await CaseMonitorFixture.with(policies: ["coins": policy]) { fixture in
            try await fixture.consent(of: "alice", to: "first")
            _ = try await fixture.base.openCase(.sample(id: "first"))
            fixture.base.clock.advance(by: .seconds(60))
            for number in 1...200 { _ = try await fixture.base.openCase(.sample(id: "n\(number)")) }
            try await fixture.monitoring {}
            #expect(try await fixture.deliveries.map(\.transactionID) == ["first"])
        }
    }

    @Test func `trouble of the store is told once, and the answer follows`() async throws {
        try await CaseMonitorFixture.with(policies: ["coins": CaseMonitorFixture.policy(hours: 12)]) { fixture in
            try await fixture.consent(of: "alice", to: "1")
            _ = try await fixture.base.openCase(.sample(id: "1"))
            fixture.base.store.fail(.accept)
            try await fixture.monitoring {
                for _ in 1...3 { try await fixture.pass(.seconds(10)) }
                fixture.base.store.heal()
                try await fixture.pass(.seconds(10))
            }
            #expect(try await fixture.deliveries.count == 1)
            #expect(fixture.log.lines("cannot be watched").map(\.level) == [.error])
            #expect(fixture.log.lines("are watched again").count == 1)
        }
    }
}

extension RefundRule.Statement {
    /// All that Apple requires.
    fileprivate static let everything = RefundRule.Statement(deliveryStatus: .delivered, sampleContentProvided: false)
}
