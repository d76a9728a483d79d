import Domain
import Foundation
import TestSupport
import Testing

struct LinkRulesTests {
    private func declared(_ user: String, at: TimeInterval = 500, environment: AppStoreEnvironment? = nil) throws
        -> Link
    {
        try Link.sample(.transactionId, "1", user: user, environment: environment, created: at)
    }

    @Test func `the first link holds since ever`() throws {
        let statement = try declared("alice")
        #expect(LinkRules.declare(statement, existing: [], transfer: false) == .insert(statement))
    }

    @Test func `declaring the same again keeps the link`() throws {
        let old = try declared("alice", at: 100)
        #expect(LinkRules.declare(try declared("alice"), existing: [old], transfer: false) == .keep(old))
    }

    @Test func `declaring what was learnt makes it declared`() throws {
        let learnt = try Link.sample(.transactionId, "1", user: "alice", environment: .sandbox, source: .consumption)
        let decision = LinkRules.declare(try declared("alice"), existing: [learnt], transfer: false)
        guard case .replace(let old, let new) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(old == learnt)
        #expect(new.source == .declared && new.environment == .sandbox)
    }

    @Test func `a link of another user is a conflict, learnt or declared`() throws {
        for source in [LinkSource.declared, .consumption] {
            let other = try Link.sample(.transactionId, "1", user: "bob", source: source)
            #expect(LinkRules.declare(try declared("alice"), existing: [other], transfer: false) == .conflict(other))
        }
    }

    @Test func `a transfer ends the old link and begins the new one at the same instant`() throws {
        let other = try Link.sample(.transactionId, "1", user: "bob")
        let decision = LinkRules.declare(try declared("alice", at: 500), existing: [other], transfer: true)
        guard case .transfer(let old, let at, let new) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(old == [other])
        #expect(at == Date(timeIntervalSince1970: 500))
        #expect(new.validFrom == at && new.isInForce)
    }

    @Test func `after an ended link the next one begins where it ended`() throws {
        let ended = try Link.sample(.transactionId, "1", user: "bob", until: 300)
        guard case .insert(let new) = LinkRules.declare(try declared("alice"), existing: [ended], transfer: false)
        else {
            Issue.record("not inserted")
            return
        }
        #expect(new.validFrom == Date(timeIntervalSince1970: 300))
    }

    @Test func `links of different environments do not meet, one of unknown environment meets both`() throws {
        let sandbox = try Link.sample(.transactionId, "1", user: "bob", environment: .sandbox)
        let production = try declared("alice", environment: .production)
        #expect(LinkRules.declare(production, existing: [sandbox], transfer: false) == .insert(production))
        #expect(LinkRules.declare(try declared("alice"), existing: [sandbox], transfer: false) == .conflict(sandbox))
    }

    @Test func `a learnt link never overrides, and fills in an unknown environment`() throws {
        let other = try Link.sample(.transactionId, "1", user: "bob")
        let learnt = try Link.sample(.transactionId, "1", user: "alice", environment: .sandbox, source: .consumption)
        #expect(LinkRules.learn(learnt, existing: [other]) == .conflict(other))
        let own = try declared("alice")
        guard case .replace(_, let new) = LinkRules.learn(learnt, existing: [own]) else {
            Issue.record("not replaced")
            return
        }
        #expect(new.source == .declared && new.environment == .sandbox)
    }
}
