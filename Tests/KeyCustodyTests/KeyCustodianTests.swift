import Domain
import Foundation
import KeyCustody
import Logging
import OpenSSL
import TestSupport
import Testing

struct KeyCustodianTests {
    private let fixture: CustodianFixture
    private let mara = CustodianFixture.operatorActor

    init() throws { fixture = try CustodianFixture() }

    private func refusal<Value>(_ act: () async throws(ServiceError) -> Value) async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await act()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a key comes in, stands by, is activated, and the one before it is retired`() async throws {
        let old = try fixture.files.key("OLD").declaration
        let run = try await fixture.start([old])
        let imported = try await run.custodian.importKey(try fixture.request("NEW"), by: mara)
        #expect(imported.state == .standby && imported.facts.source == .imported)
        #expect(imported.facts.importedBy == "operator:1000" && imported.facts.fingerprint?.count == 64)
        #expect(try await run.active() == "OLD")
        let check = try await run.custodian.check("NEW", by: mara)
        #expect(check.passes && check.findings.count == 2)
        let active = try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        #expect(active.state == .active && active.activeApps == ["coins"])
        #expect(try await run.active() == "NEW")
        #expect(try await run.state("OLD") == .retired)
        #expect(
            fixture.audit.acts.filter { $0.actor == mara }.map(\.action) == [
                .keyImported, .keyChecked, .keyActivated,
            ])
        #expect(fixture.audit.acts.allSatisfy { [.tokenMinted, .tokenUsed].contains($0.action) || $0.keyID == "NEW" })
        #expect(fixture.audit.acts(.keyActivated).first?.details["replacedKeyId"] == "OLD")
        let again = try await fixture.start([old])
        #expect(try await again.active() == "NEW", "after a restart, too")
        #expect(try await again.state("OLD") == .retired)
    }

    @Test func `an imported key goes on signing when the one it has replaced leaves the configuration`() async throws {
        let (old, next) = (try fixture.files.key("OLD").declaration, try fixture.files.key("NEXT").declaration)
        let run = try await fixture.start([old])
        _ = try await run.custodian.importKey(try fixture.request("NEW"), by: mara)
        _ = try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        let without = try await fixture.start()
        #expect(try await without.active() == "NEW")
        let back = try await fixture.start([old])
        #expect(try await back.active() == "NEW")
        let another = try await fixture.start([next])
        #expect(try await another.active() == "NEXT", "the configuration has the last word")
    }

    @Test func `the way back is to activate the one before`() async throws {
        let old = try fixture.files.key("OLD").declaration
        let run = try await fixture.start([old])
        _ = try await run.custodian.importKey(try fixture.request("NEW"), by: mara)
        _ = try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        _ = try await run.custodian.activate("OLD", apps: nil, unchecked: false, by: mara)
        #expect(try await run.active() == "OLD")
        #expect(try await run.state("NEW") == .retired)
        let again = try await fixture.start([old])
        #expect(try await again.active() == "OLD")
    }

    @Test func `a key signs for some of its apps or for all`() async throws {
        let run = try await fixture.start([try fixture.files.key("OLD", apps: ["coins", "gems"]).declaration])
        _ = try await run.custodian.importKey(try fixture.request("NEW", apps: ["gems", "coins"]), by: mara)
        let some = try await run.custodian.activate("NEW", apps: ["gems"], unchecked: false, by: mara)
        #expect(some.activeApps == ["gems"])
        #expect(try await run.active() == "OLD")
        #expect(try await run.state("OLD") == .active)
        let error = await refusal { () throws(ServiceError) in
            try await run.custodian.activate("NEW", apps: ["others"], unchecked: false, by: mara)
        }
        #expect(error?.violations.map(\.field) == ["apps"])
        let all = try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        #expect(all.activeApps == ["coins", "gems"])
        #expect(try await run.state("OLD") == .retired)
    }

    @Test func `a key that Apple does not take is not activated, unless the operator says so`() async throws {
        let run = try await fixture.start()
        _ = try await run.custodian.importKey(try fixture.request("NEW"), by: mara)
        fixture.probe.answer(.refused, about: "NEW", in: [.production])
        fixture.probe.answer(.noAnswer, about: "NEW", in: [.sandbox])
        let error = await refusal { () throws(ServiceError) in
            try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        }
        #expect(error?.reason == .keyConflict && error?.message.contains("coins Production refused") == true)
        #expect(try await run.state("NEW") == .standby && fixture.audit.acts(.keyActivated).isEmpty)
        fixture.probe.answer(.accepted, about: "NEW", in: [.sandbox])
        #expect(try await run.custodian.check("NEW", by: mara).passes, "one environment is enough")
        fixture.probe.answer(.refused, about: "NEW", in: [.sandbox])
        _ = try await run.custodian.activate("NEW", apps: nil, unchecked: true, by: mara)
        #expect(try await run.active() == "NEW")
        #expect(fixture.audit.acts(.keyActivated).first?.details["checked"] == "false")
    }

    @Test func `without a record nothing is imported or activated, and everything is revoked`() async throws {
        let run = try await fixture.start()
        _ = try await run.custodian.importKey(try fixture.request("ONE"), by: mara)
        fixture.audit.fail()
        let request = try fixture.request("TWO")
        let notImported = await refusal { () throws(ServiceError) in
            try await run.custodian.importKey(request, by: mara)
        }
        let notActivated = await refusal { () throws(ServiceError) in
            try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        }
        #expect(notImported?.reason == .auditUnavailable && notActivated?.reason == .auditUnavailable)
        #expect(await run.custodian.overview().keys.map(\.facts.keyID) == ["ONE"])
        #expect(try await run.state("ONE") == .standby)
        #expect(try await run.custodian.revoke("ONE", by: mara).state == .revoked)
        try await run.custodian.delete("ONE", by: mara)
        #expect(await run.custodian.overview().keys.isEmpty)
    }

    @Test func `a revoked key signs nothing more at once, and a standby key takes its place`() async throws {
        let run = try await fixture.start()
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        let held = try run.minter.token(for: CustodianFixture.coins)
        #expect(held.keyID == "ONE")
        let revoked = try await run.custodian.revoke("ONE", by: mara)
        #expect(revoked.state == .revoked && revoked.activeApps.isEmpty)
        #expect(try await run.active() == "TWO")
        let error = await refusal { () throws(ServiceError) in
            try await run.custodian.activate("ONE", apps: nil, unchecked: true, by: mara)
        }
        #expect(error?.reason == .keyConflict)
        _ = try await run.custodian.revoke("TWO", by: mara)
        let none = await refusal { () throws(ServiceError) in
            try run.minter.token(for: CustodianFixture.coins)
        }
        #expect(none?.reason == .keyUnavailable)
        let again = try await fixture.start()
        #expect(try await again.state("ONE") == .revoked)
        #expect(fixture.audit.acts(.keyRevoked).first?.details["successors"] == "coins=TWO")
    }

    @Test func `a revocation that cannot be kept has taken effect all the same, and is kept later`() async throws {
        let run = try await fixture.start()
        _ = try await run.custodian.importKey(try fixture.request("ONE"), by: mara)
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        await fixture.store.fail()
        let error = await refusal { () throws(ServiceError) in try await run.custodian.revoke("ONE", by: mara) }
        #expect(error?.reason == .storeUnavailable && error?.message.contains("taken effect") == true)
        #expect(run.ring.activeKeyID(for: CustodianFixture.coins) == nil)
        await fixture.store.fail(false)
        await run.custodian.save()
        let again = try await fixture.start()
        #expect(try await again.state("ONE") == .revoked)
    }

    @Test func `a key that signs is neither retired nor deleted; one that does not is`() async throws {
        let run = try await fixture.start()
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        for error in [
            await refusal { () throws(ServiceError) in try await run.custodian.retire("ONE", by: mara) },
            await refusal { () throws(ServiceError) in try await run.custodian.delete("ONE", by: mara) as Void },
        ] {
            #expect(error?.reason == .keyConflict && error?.message.contains("signs for coins") == true)
        }
        #expect(try await run.custodian.retire("TWO", by: mara).state == .retired)
        #expect(run.minter.standbyTokens(for: CustodianFixture.coins).isEmpty)
        try await run.custodian.delete("TWO", by: mara)
        #expect(try await fixture.store.importedKeys().map(\.keyID) == ["ONE"])
        #expect(try await fixture.store.sealedSecrets().map(\.name) == ["ONE"])
        let gone = await refusal { () throws(ServiceError) in try await run.custodian.key("TWO") }
        #expect(gone?.reason == .keyNotFound)
    }

    @Test func `a revoked key is not retired, and the error says so`() async throws {
        let run = try await fixture.start()
        _ = try await run.custodian.importKey(try fixture.request("ONE"), by: mara)
        _ = try await run.custodian.retire("ONE", by: mara)
        #expect(try await run.custodian.retire("ONE", by: mara).state == .retired, "what is so already is no fault")
        _ = try await run.custodian.revoke("ONE", by: mara)
        let error = await refusal { () throws(ServiceError) in try await run.custodian.retire("ONE", by: mara) }
        #expect(error?.reason == .keyConflict && error?.message.contains("is revoked") == true)
        #expect(try await run.state("ONE") == .revoked)
    }

    @Test func `a key whose deletion cannot be kept signs no more, stays in sight, and is deleted when asked again`()
        async throws
    {
        let run = try await fixture.start()
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        await fixture.store.fail()
        let error = await refusal { () throws(ServiceError) in try await run.custodian.delete("TWO", by: mara) as Void }
        #expect(error?.reason == .storeUnavailable && fixture.audit.acts(.keyDeleted).isEmpty)
        #expect(try await run.custodian.key("TWO").facts.problem?.contains("delete it again") == true)
        #expect(run.minter.standbyTokens(for: CustodianFixture.coins).isEmpty)
        await fixture.store.fail(false)
        try await run.custodian.delete("TWO", by: mara)
        #expect(fixture.audit.acts(.keyDeleted).map(\.keyID) == ["TWO"])
        #expect(await run.custodian.overview().keys.map(\.facts.keyID) == ["ONE"])
        #expect(try await fixture.store.importedKeys().map(\.keyID) == ["ONE"])
    }

    @Test func `no deletion lets another key sign that nobody has asked for`() async throws {
        let run = try await fixture.start([try fixture.files.key("LEAKED").declaration])
        _ = try await run.custodian.importKey(try fixture.request("NEW"), by: mara)
        _ = try await run.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        _ = try await run.custodian.revoke("NEW", by: mara)
        #expect(run.ring.activeKeyID(for: CustodianFixture.coins) == nil)
        let error = await refusal { () throws(ServiceError) in try await run.custodian.delete("NEW", by: mara) as Void }
        #expect(error?.reason == .keyConflict && error?.message.contains("coins by `LEAKED`") == true)
        #expect(run.ring.activeKeyID(for: CustodianFixture.coins) == nil)
        #expect(try await run.state("NEW") == .revoked)
        _ = try await run.custodian.importKey(try fixture.request("THIRD"), by: mara)
        _ = try await run.custodian.activate("THIRD", apps: nil, unchecked: false, by: mara)
        try await run.custodian.delete("NEW", by: mara)
        #expect(try await run.active() == "THIRD")
    }

    @Test func `what was deleted is overwritten in the store; where it cannot be, the key is deleted and it is said`()
        async throws
    {
        let run = try await fixture.start()
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        try await run.custodian.delete("ONE", by: mara)
        #expect(await fixture.store.overwritten == 1)
        await fixture.store.failOverwriting()
        try await run.custodian.delete("TWO", by: mara)
        #expect(await run.custodian.overview().keys.isEmpty)
        #expect(fixture.log.lines.count { $0.level == .warning && $0.message.contains("stay in the store's log") } == 1)
    }

    @Test func `a check leaves no token of a key that is out of use`() async throws {
        let run = try await fixture.start()
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        _ = try await run.custodian.retire("ONE", by: mara)
        for id in ["ONE", "TWO"] { _ = try await run.custodian.check(id, by: mara) }
        // Told of when a token is forgotten, and once in a while.
        #expect(fixture.audit.acts(.tokenUsed).map(\.keyID) == ["ONE"])
    }

    @Test func `what the configuration declares is changed there alone`() async throws {
        let run = try await fixture.start([try fixture.files.key("OLD", state: .standby).declaration])
        for error in [
            await refusal { () throws(ServiceError) in try await run.custodian.retire("OLD", by: mara) },
            await refusal { () throws(ServiceError) in try await run.custodian.revoke("OLD", by: mara) },
            await refusal { () throws(ServiceError) in try await run.custodian.delete("OLD", by: mara) as Void },
        ] {
            #expect(error?.reason == .keyConflict && error?.message.contains("configuration") == true)
        }
    }

    @Test func `an id stands for one key, and a key has one id`() async throws {
        let run = try await fixture.start([try fixture.files.key("OLD").declaration])
        let request = try fixture.request("NEW")
        _ = try await run.custodian.importKey(request, by: mara)
        let (taken, declared) = (try fixture.request("NEW"), try fixture.request("OLD"))
        for request in [taken, declared] {
            let error = await refusal { () throws(ServiceError) in
                try await run.custodian.importKey(request, by: mara)
            }
            #expect(error?.reason == .keyConflict)
        }
        let renamed = KeyImport(keyID: "OTHER", issuerID: request.issuerID, apps: ["coins"], text: request.text)
        let same = await refusal { () throws(ServiceError) in try await run.custodian.importKey(renamed, by: mara) }
        #expect(same?.message.contains("private key of `NEW`") == true)
    }

    @Test(arguments: [
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "a public key"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "encrypted PEM"),
        ("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49", "truncated"), ("", "empty"),
    ])
    func `what is no key is named, and nothing is kept of it`(text: String, name: String) async throws {
        let run = try await fixture.start()
        let request = KeyImport(
            keyID: "NEW", issuerID: CustodianFixture.issuer, apps: ["coins"], text: SecretText(Array(text.utf8)))
        let error = await refusal { () throws(ServiceError) in try await run.custodian.importKey(request, by: mara) }
        #expect(error?.violations.map(\.field) == ["body"])
        #expect(error?.violations.first?.message.contains(name) == true)
        #expect(try await fixture.store.sealedSecrets().isEmpty)
        #expect(fixture.audit.acts.isEmpty)
    }

    @Test func `when keys were used is shown at once and kept once a minute, however many there are`() async throws {
        let run = try await fixture.start([
            try fixture.files.key("ONE").declaration, try fixture.files.key("TWO", apps: ["gems"]).declaration,
        ])
        let writes = await fixture.store.writes
        for app in [CustodianFixture.coins, CustodianFixture.gems] {
            _ = try run.minter.token(for: app)
            await run.custodian.save()
        }
        #expect(await fixture.store.writes == writes)
        let used = try #require(try await run.custodian.key("TWO").history?.lastUsedAt)
        fixture.clock.advance(60)
        await run.custodian.save()
        await run.custodian.save()
        #expect(await fixture.store.writes == writes + 1)
        #expect(try await fixture.store.keyStates().histories.values.map(\.lastUsedAt) == [used, used])
        #expect(try await run.custodian.key("TWO").history?.lastUsedAt == used)
    }

    @Test func `old and unused keys are told of, and so is an app that has but one`() async throws {
        let policy = KeyWarningPolicy(maximumAge: .seconds(86_400 * 10), unusedFor: .seconds(86_400 * 5))
        let run = try await fixture.start(warnings: policy)
        for id in ["ONE", "TWO"] { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: true, by: mara)
        fixture.clock.advance(86_400 * 6)
        _ = try run.minter.token(for: CustodianFixture.coins)
        #expect(try await run.custodian.key("ONE").warnings.isEmpty)
        #expect(try await run.custodian.key("TWO").warnings.map { $0.prefix(10) } == ["never used"])
        fixture.clock.advance(86_400 * 4.9)
        #expect(try await run.custodian.key("ONE").warnings.map { $0.prefix(6) } == ["in use"])
        _ = try await run.custodian.retire("TWO", by: mara)
        await run.custodian.save()
        #expect(try await run.custodian.key("TWO").warnings.isEmpty)
        #expect(fixture.log.lines.contains { $0.message == "Keys: app coins has no standby key" })
        let used = try await fixture.store.keyStates().histories["ONE"]?.lastUsedAt
        #expect(used.map { $0 > Date(timeIntervalSince1970: 1_700_000_000 + 86_400 * 5) } == true)
    }
}
