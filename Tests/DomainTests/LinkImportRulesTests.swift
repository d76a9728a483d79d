import Domain
import Foundation
import TestSupport
import Testing

/// What an imported link does to those that are there.
struct LinkImportRulesTests {
    private func link(
        _ user: String, from: TimeInterval? = nil, until: TimeInterval? = nil, source: LinkSource = .imported,
        environment: AppStoreEnvironment? = nil
    ) throws -> Link {
        try Link.sample(
            .originalTransactionId, "1", user: user, environment: environment, source: source, from: from, until: until)
    }

    /// What the rule makes of what is there, and what is there afterwards.
    private func outcome(
        _ statement: Link, _ existing: [Link]
    ) -> (decision: LinkRules.Decision, after: [Link]) {
        let decision = LinkRules.importing(statement, existing: existing)
        return (decision, decision.applied(to: existing))
    }

    @Test func `the first link holds as it says`() throws {
        for statement in [try link("alice"), try link("alice", from: 100), try link("alice", from: 100, until: 200)] {
            #expect(outcome(statement, []).after == [statement])
        }
    }

    @Test func `the same again changes nothing, whatever came of it`() throws {
        let stories: [[Link]] = [
            [try link("alice")], [try link("alice", from: 100, until: 200)],
            [try link("alice", until: 200), try link("bob", from: 200)],
            [try link("alice", until: 200), try link("bob")],
            [try link("alice", from: 300), try link("alice", from: 100)],
            [try link("alice", environment: .sandbox), try link("bob", environment: .production)],
        ]
        for story in stories {
            let once = story.reduce(into: [Link]()) { $0 = outcome($1, $0).after }
            for statement in story {
                #expect(LinkRules.importing(statement, existing: once).applied(to: once) == once, "\(story)")
            }
        }
    }

    @Test func `another user's link is a conflict while both hold, whoever stated it or whether it was learnt`() throws
    {
        for source in [LinkSource.declared, .imported, .consumption, .signedData] {
            let other = try link("bob", from: 100, source: source)
            #expect(outcome(try link("alice"), [other]).decision == .conflict(other))
            #expect(outcome(try link("alice", from: 200), [other]).decision == .conflict(other))
            #expect(outcome(try link("alice", until: 101), [other]).decision == .conflict(other))
            let before = try link("alice", until: 100)
            #expect(outcome(before, [other]).decision == .insert(before))
        }
    }

    @Test func `without a start a link begins where that of another user ended`() throws {
        let bob = try link("bob", until: 300)
        #expect(outcome(try link("alice"), [bob]).after == [bob, try link("alice", from: 300)])
        // Nothing is left of it when both end at once.
        #expect(outcome(try link("alice", until: 300), [bob]).decision == .conflict(bob))
    }

    @Test func `a link that ended is not revived, unless it says that it began anew`() throws {
        let ended = try link("alice", until: 300, source: .declared)
        #expect(outcome(try link("alice"), [ended]).decision == .conflict(ended))
        #expect(outcome(try link("alice", from: 299), [ended]).decision == .conflict(ended))
        let anew = try link("alice", from: 300)
        #expect(outcome(anew, [ended]).decision == .insert(anew))
        #expect(outcome(try link("alice", until: 200), [ended]).decision == .keep(ended))
    }

    @Test func `what was learnt becomes stated, and what was declared stays so`() throws {
        let learnt = try link("alice", source: .signedData, environment: .sandbox)
        let stated = try link("alice", environment: .sandbox)
        #expect(outcome(try link("alice"), [learnt]).decision == .replace(old: learnt, new: stated))
        let declared = try link("alice", source: .declared)
        #expect(outcome(try link("alice"), [declared]).decision == .keep(declared))
        let known = try link("alice", source: .declared, environment: .sandbox)
        #expect(outcome(stated, [declared]).decision == .replace(old: declared, new: known))
    }

    @Test func `an earlier start makes a link hold for longer, but not into another user's time`() throws {
        let later = try link("alice", from: 300)
        #expect(outcome(try link("alice", from: 100), [later]).after == [try link("alice", from: 100)])
        #expect(outcome(try link("alice"), [later]).decision == .keep(later))
        let bob = try link("bob", until: 200)
        #expect(outcome(try link("alice", from: 100), [bob, later]).decision == .conflict(bob))
    }

    @Test func `a caller that declares what was imported finds it declared`() throws {
        let imported = try link("alice")
        let statement = try link("alice", source: .declared)
        #expect(LinkRules.declare(statement, existing: [imported], transfer: false) == .keep(imported))
    }

    @Test func `environments are apart, and an unknown one speaks of both`() throws {
        let sandbox = try link("bob", environment: .sandbox)
        let production = try link("alice", environment: .production)
        #expect(outcome(production, [sandbox]).decision == .insert(production))
        #expect(outcome(try link("alice"), [sandbox]).decision == .conflict(sandbox))
        #expect(outcome(try link("alice"), [sandbox, production]).decision == .keep(production))
    }
}
