import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// Apps of several Apple teams in one installation, and an app that goes from one team to another.
struct TeamTests {
    private static let gems = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 43)

    /// What the App Store knows of `coins` once it belongs to another team.
    private static let transferred = RegisteredApp(
        bundleID: DaemonFixture.bundleID, appAppleID: 42, issuerID: "buyer")

    /// A key of the team that takes the app over.
    private static func buyersKey(_ state: KeyStatus.State) -> DaemonFixture.OtherKey {
        DaemonFixture.OtherKey(id: "BUYERSKEY1", issuerID: "buyer", state: state, apps: ["coins"])
    }

    /// Lends a folder and an App Store that outlast daemons.
    private func withStage(_ body: (_ folder: URL, _ simulator: Simulator) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = try await Simulator.start(SimulatorConfiguration())
        do {
            try await body(folder, simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    @Test func `each app is asked about with the key and the issuer of its own team`() async throws {
        let options = DaemonFixture.Options(
            otherKeys: [.init(id: "OTHERTEAM1", issuerID: "other", apps: ["gems"])], otherApps: [Self.gems])
        try await DaemonFixture.with(options) { fixture in
            let state = fixture.simulator.state
            try state.register(
                RegisteredApp(bundleID: Self.gems.bundleID, appAppleID: 43, issuerID: "other"))
            for app in ["coins", "gems"] {
                let reply = try await fixture.send(
                    "GET", "/v1/apps/\(app)/transactions/1?environment=Production")
                #expect(try reply.status == 404 && reply.json["apple"]?["errorCode"] == 4_040_010, "\(app)")
            }
            let seen = state.received.requests.map { "\($0.bundleID ?? "") \($0.keyID ?? "") \($0.reason ?? "")" }
            #expect(
                seen.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                    "com.example.coins ABCDEFGHIJ", "com.example.gems OTHERTEAM1",
                ], "\(seen)")
        }
    }

    @Test func `a team's key is no good for an app of another team, and that is said`() async throws {
        let options = DaemonFixture.Options(
            otherKeys: [.init(id: "OTHERTEAM1", issuerID: "other", apps: ["gems"])], otherApps: [Self.gems])
        try await DaemonFixture.with(options) { fixture in
            try fixture.simulator.state.register(
                RegisteredApp(bundleID: Self.gems.bundleID, appAppleID: 43, issuerID: "issuer"))
            let reply = try await fixture.send("GET", "/v1/apps/gems/transactions/1")
            #expect(try reply.status == 502 && reply.json["reason"] == "APPLE_UNAUTHORIZED")
            #expect(try reply.json["detail"]?.string?.contains("OTHERTEAM1") == true)
            #expect(
                fixture.simulator.state.received.requests.allSatisfy { $0.reason == "bid is an app of another team" })
            #expect(try await fixture.send("GET", "/v1/apps/coins/transactions/1").status == 404)
        }
    }

    @Test func `an app goes to another team without a failed request, if that team's key stands by`() async throws {
        try await DaemonFixture.with(.init(otherKeys: [Self.buyersKey(.standby)])) { fixture in
            let state = fixture.simulator.state
            let transaction = try await fixture.customer().transaction
            let down = state.inject(Fault(.status(503), operation: .sendConsumptionInformation))
            let answer = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(transaction)/consumption", ["Prefer": "respond-async"],
                body: DaemonFixture.consumption())
            #expect(answer.status == 202)
            try await fixture.isReceived(transaction)
            try state.register(Self.transferred)
            for _ in 0..<3 {
                let reply = try await fixture.send("GET", "\(DaemonFixture.app)/transactions/\(transaction)")
                #expect(reply.status == 200)
            }
            state.removeFault(down)
            try await fixture.event("delivery.accepted", about: transaction)
            let sent = fixture.received(transaction)
            #expect(sent.first?.keyID == "ABCDEFGHIJ" && sent.last?.keyID == "BUYERSKEY1")
            #expect(Set(sent.map(\.consumption)).count == 1, "the same bytes each time")
        }
    }

    @Test func `what was accepted before goes on with the new team's key once the configuration has it`() async throws {
        let time = MovableTime()
        try await withStage { folder, simulator in
            let (ids, next) = AsyncStream.makeStream(of: String.self)
            try await DaemonFixture.run(.init(now: time.now), folder, simulator) { fixture in
                let transaction = try await fixture.customer().transaction
                #expect(
                    try await fixture.send("GET", "\(DaemonFixture.app)/transactions/\(transaction)").status == 200)
                try simulator.state.register(Self.transferred)
                let answer = try await fixture.send(
                    "POST", "\(DaemonFixture.app)/transactions/\(transaction)/consumption",
                    ["Prefer": "respond-async"], body: DaemonFixture.consumption())
                #expect(answer.status == 202)
                let id = try answer.json["id"]
                try await Wait.until("Apple to refuse the old team's key") {
                    let failure = try await fixture.delivery(id)["failure"]
                    return failure?["reason"] == "APPLE_UNAUTHORIZED"
                }
                #expect(try await fixture.delivery(id)["state"] == "queued")
                next.yield(transaction)
            }
            // A refused key is not tried again before a minute has passed.
            time.advance(by: 75)
            let options = DaemonFixture.Options(
                now: time.now, keyState: .retired, otherKeys: [Self.buyersKey(.active)])
            try await DaemonFixture.run(options, folder, simulator) { fixture in
                for await transaction in ids {
                    try await fixture.event("delivery.accepted", about: transaction)
                    let sent = try #require(fixture.received(transaction).last)
                    #expect(sent.keyID == "BUYERSKEY1" && sent.status.map { $0 < 300 } == true)
                    #expect(
                        try await fixture.send("GET", "\(DaemonFixture.app)/transactions/\(transaction)").status
                            == 200)
                    break
                }
            }
        }
    }

    @Test func `an app goes on once the new team's key is imported and activated, without a restart`() async throws {
        try await DaemonStage.with(DaemonStage.Settings(scopes: ["transactions:read"])) { stage in
            let buyer = "7b5f9e0a-1c2d-4e3f-8a9b-0c1d2e3f4a5b"
            let daemon = try await stage.start()
            let target = "/v1/apps/coins/transactions/1?environment=Production"
            #expect(await stage.api().send("GET", target)?.status == 404)
            try stage.simulator.state.register(
                RegisteredApp(bundleID: DaemonStage.bundleID, appAppleID: 42, issuerID: buyer))
            let refused = await stage.api().send("GET", target)
            let reason = refused?.json?["reason"]
            #expect(refused?.status == 502 && reason == "APPLE_UNAUTHORIZED", "\(daemon.log.text.suffix(2000))")
            let file = try stage.makeKey("BUYERSKEY1", at: "AuthKey_BUYERSKEY1.p8", issuer: buyer).path
            for arguments in [
                ["import", file, "--issuer", buyer, "--app", "coins"], ["activate", "BUYERSKEY1", "--unchecked"],
            ] {
                let outcome = try await stage.command(["keys"] + arguments)
                try #require(outcome.status == 0, "\(outcome.output)\(outcome.errorOutput)")
            }
            #expect(await stage.api().send("GET", target)?.status == 404)
            #expect(stage.simulator.state.received.requests.last { $0.identifier == "1" }?.keyID == "BUYERSKEY1")
            #expect(try await daemon.terminate() == 0)
        }
    }
}
