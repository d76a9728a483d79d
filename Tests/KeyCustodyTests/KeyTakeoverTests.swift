import Domain
import Foundation
import KeyCustody
import TestSupport
import Testing

struct KeyTakeoverTests {
    private let fixture: CustodianFixture

    init() throws { fixture = try CustodianFixture() }

    private func key(_ id: String, _ state: KeyStatus.State, _ apps: [String] = ["coins"]) throws -> KeyDeclaration {
        try fixture.files.key(id, state: state, apps: apps).declaration
    }

    @Test func `a standby key that has taken over signs after a restart, and the refused one is none to take over`()
        async throws
    {
        let keys = [try key("OLD", .active, ["coins", "gems"]), try key("NEW", .standby)]
        let first = try await fixture.start(keys)
        #expect(try await first.refuse() == "NEW")
        await first.custodian.save()
        let second = try await fixture.start(keys)
        #expect(try await second.active() == "NEW")
        #expect(try await second.active(CustodianFixture.gems) == "OLD")
        #expect(second.minter.standbyTokens(for: CustodianFixture.coins).isEmpty)
        let takeover = try #require(second.ring.takeovers.first)
        #expect(takeover.keyID == "NEW" && takeover.replacedKeyID == "OLD" && takeover.since == fixture.clock.date)
        #expect(
            fixture.log.lines.contains { $0.message.contains("still signs in the place of one that Apple has refused") }
        )
    }

    @Test(arguments: [60.0, -3600])
    func `one take-over after the other is taken up, whatever the clock did between them`(seconds: TimeInterval)
        async throws
    {
        let keys = [try key("A", .active), try key("B", .standby), try key("C", .standby)]
        let first = try await fixture.start(keys)
        #expect(try await first.refuse() == "B")
        await first.custodian.save()
        fixture.clock.adjust(seconds)
        let second = try await fixture.start(keys)
        #expect(try await second.refuse() == "C")
        await second.custodian.save()
        let third = try await fixture.start(keys)
        #expect(try await third.active() == "C")
        #expect(third.ring.statuses.map(\.state).sorted { $0.rawValue < $1.rawValue } == [.active, .retired, .retired])
        #expect(try await third.refuse() == nil, "nobody stands by")
    }

    @Test func `the configuration has the last word`() async throws {
        let run = try await fixture.start([try key("OLD", .active), try key("NEW", .standby)])
        _ = try await run.refuse()
        await run.custodian.save()
        for (old, new, expected) in [
            (KeyStatus.State.standby, KeyStatus.State.active, "NEW"), (.active, .retired, "OLD"),
            (.active, .revoked, "OLD"),
        ] {
            let next = try await fixture.start([try key("OLD", old), try key("NEW", new)])
            #expect(try await next.active() == expected)
            #expect(next.ring.takeovers.isEmpty)
        }
        let elsewhere = try await fixture.start([try key("OLD", .active), try key("NEW", .standby, ["gems"])])
        #expect(try await elsewhere.active() == "OLD", "it stands by for another app now")
    }

    @Test func `only what has changed is written, and what could not be written is written later`() async throws {
        let run = try await fixture.start([try key("OLD", .active), try key("NEW", .standby)])
        let writes = await fixture.store.writes
        await run.custodian.save()
        #expect(await fixture.store.writes == writes)
        _ = try await run.refuse()
        await fixture.store.fail()
        await run.custodian.save()
        await run.custodian.save()
        #expect(fixture.log.lines.count { $0.message.contains("could not be kept") } == 1)
        await fixture.store.fail(false)
        await run.custodian.save()
        await run.custodian.save()
        #expect(await fixture.store.writes == writes + 1)
        #expect(try await fixture.store.keyStates().roles.map(\.keyID).sorted() == ["NEW", "OLD"])
    }

    @Test func `each take-over is put on record, and by no start again, wherever its key comes from`() async throws {
        let keys = [try key("A", .active)]
        let run = try await fixture.start(keys)
        for id in ["D", "E"] {
            _ = try await run.custodian.importKey(
                try fixture.request(id), by: CustodianFixture.operatorActor)
        }
        #expect(try await run.refuse() == "D")
        #expect(try await run.refuse() == "E", "before the next second")
        await run.custodian.save()
        #expect(fixture.audit.acts(.keyTookOver).map(\.keyID) == ["D", "E"])
        #expect(fixture.audit.acts(.keyTookOver).map(\.details) == [["refusedKeyId": "A"], ["refusedKeyId": "D"]])
        let again = try await fixture.start(keys)
        await again.custodian.save()
        #expect(try await again.active() == "E")
        #expect(fixture.audit.acts(.keyTookOver).count == 2)
    }

    @Test func `what happens while a take-over is put on record is kept with it`() async throws {
        let run = try await fixture.start([try key("A", .active), try key("B", .standby), try key("C", .standby)])
        #expect(try await run.refuse() == "B")
        fixture.audit.settling.close()
        let saving = Task { await run.custodian.save() }
        await fixture.audit.settling.hasArrivals(1)
        #expect(try await run.refuse() == "C")
        fixture.audit.settling.open()
        await saving.value
        #expect(try await fixture.store.keyStates().roles.filter { $0.kind == .active }.map(\.keyID) == ["C"])
    }

    @Test func `nothing older is kept in the place of what an operator has decided`() async throws {
        let run = try await fixture.start([try key("A", .active)])
        _ = try await run.custodian.importKey(try fixture.request("D"), by: CustodianFixture.operatorActor)
        // A use that is not kept yet, so that there is something to save.
        fixture.clock.advance(3600)
        _ = try run.minter.token(for: CustodianFixture.coins)
        fixture.clock.advance(60)
        let before = fixture.store.written.arrivals
        fixture.store.written.close()
        let activating = Task {
            try await run.custodian.activate("D", apps: nil, unchecked: true, by: CustodianFixture.operatorActor)
        }
        await fixture.store.written.hasArrivals(before + 1)
        let saving = Task.immediate { await run.custodian.save() }
        // Both answer one after the other: a save that did not wait for the act would have written by now.
        _ = await run.custodian.overview()
        _ = try await fixture.store.keyStates()
        fixture.store.written.open()
        _ = try await activating.value
        await saving.value
        #expect(try await fixture.store.keyStates().roles.filter { $0.kind == .active }.map(\.keyID) == ["D"])
    }

    @Test func `a take-over is put on record once, and activating the key that took over confirms it`() async throws {
        let keys = [try key("OLD", .active), try key("NEW", .standby)]
        let run = try await fixture.start(keys)
        _ = try await run.refuse()
        await run.custodian.save()
        await run.custodian.save()
        let acts = fixture.audit.acts(.keyTookOver)
        #expect(acts.map(\.keyID) == ["NEW"] && acts.map(\.app) == ["coins"])
        #expect(acts.first?.details == ["refusedKeyId": "OLD"] && acts.first?.actor == .daemon)
        let again = try await fixture.start(keys)
        await again.custodian.save()
        #expect(fixture.audit.acts(.keyTookOver).count == 1, "a restart is no take-over")
        _ = try await again.custodian.activate(
            "NEW", apps: nil, unchecked: false, by: CustodianFixture.operatorActor)
        #expect(again.ring.takeovers.isEmpty)
        #expect(try await again.active() == "NEW")
        #expect(try await again.state("OLD") == .retired)
    }
}
