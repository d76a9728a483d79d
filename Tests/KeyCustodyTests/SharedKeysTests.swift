import Domain
import Foundation
import KeyCustody
import TestSupport
import Testing

/// Copies of the daemon on one store: what one does with keys the others take up within seconds.
struct SharedKeysTests {
    private typealias Run = CustodianFixture.Run

    /// Lets the time pass after which a copy looks at the store, and looks.
    private func look(_ run: Run, _ fixture: CustodianFixture) async {
        fixture.clock.advance(2)
        await run.custodian.save()
    }

    @Test func `a key that one copy imports, activates and revokes signs and ends in the other`() async throws {
        let fixture = try CustodianFixture(isShared: true)
        let (here, there) = (try await fixture.start(), try await fixture.start())
        let actor = CustodianFixture.operatorActor
        for keyID in ["KEY1", "KEY2"] {
            _ = try await here.custodian.importKey(try fixture.request(keyID), by: actor)
        }
        _ = try await here.custodian.activate("KEY1", apps: nil, unchecked: true, by: actor)
        await look(there, fixture)
        #expect(try await there.active() == "KEY1")
        _ = try await here.custodian.activate("KEY2", apps: nil, unchecked: true, by: actor)
        await look(there, fixture)
        #expect(try await there.active() == "KEY2")
        _ = try await there.custodian.revoke("KEY2", by: actor)
        await look(here, fixture)
        #expect(try await here.state("KEY2") == .revoked)
        #expect((try? await here.active()) != "KEY2")
        try await here.custodian.delete("KEY2", by: actor)
        await look(there, fixture)
        await #expect(throws: ServiceError(.keyNotFound, "")) { try await there.state("KEY2") }
    }

    @Test func `a take-over of one copy is the other's, and what both decide at once is kept`() async throws {
        let fixture = try CustodianFixture(isShared: true)
        let (here, there) = (try await fixture.start(), try await fixture.start())
        let actor = CustodianFixture.operatorActor
        for keyID in ["KEY1", "KEY2"] {
            _ = try await here.custodian.importKey(try fixture.request(keyID), by: actor)
        }
        _ = try await here.custodian.importKey(try fixture.request("KEY3", apps: ["gems"]), by: actor)
        _ = try await here.custodian.activate("KEY1", apps: nil, unchecked: true, by: actor)
        await look(there, fixture)
        // Neither knows of what the other does.
        #expect(try await here.refuse() == "KEY2")
        _ = try await there.custodian.activate("KEY3", apps: nil, unchecked: true, by: actor)
        await look(here, fixture)
        await look(there, fixture)
        for run in [here, there] {
            #expect(try await run.active() == "KEY2")
            #expect(try await run.active(CustodianFixture.gems) == "KEY3")
        }
    }
}
