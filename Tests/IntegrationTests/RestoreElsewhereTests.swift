import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// A store carried to another host, as docs/operations.md tells it: with its master key, which travels apart, and without.
struct RestoreElsewhereTests {
    private static let consumption: JSONValue = [
        "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
    ]

    /// What the first host leaves: a backup, and two purchases.
    ///
    /// Ann withdrew and was erased; Bob's answer is on its way.
    private struct Legacy {
        let backup: String
        let annsPurchase: String
        let bobsPurchase: String
    }

    private func run(_ stage: DaemonStage, _ arguments: String...) async throws {
        let outcome = try await stage.command(arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errorOutput)")
    }

    /// Lets a first host come and go.
    ///
    /// `importing`: a key that it imports and signs with from then on; its master key is changed after that.
    private func leaveLegacy(_ stage: DaemonStage, importing keyID: String? = nil) async throws -> Legacy {
        let daemon = try await stage.start()
        if let keyID {
            let file = try stage.makeKey(keyID, at: "\(keyID).p8").path
            try await run(stage, "keys", "import", file, "--issuer", DaemonStage.issuer, "--app", "coins")
            // A busy machine answers later than Apple is given time to.
            try await run(stage, "keys", "activate", keyID, "--unchecked")
            try await run(stage, "keys", "rewrap")
        }
        let (ann, bob) = (try stage.sellGems(), try stage.sellGems())
        let api = stage.api()
        for (user, purchase) in [("ann", ann), ("bob", bob)] {
            let link = await api.send("PUT", "/v1/apps/coins/users/\(user)/links/transactionId/\(purchase)")
            try #require(link.map { $0.status < 300 } == true, "\(user)")
        }
        let withdrawal: JSONValue = ["consented": false, "source": "settings"]
        #expect(await api.send("PUT", "/v1/apps/coins/users/ann/consent", body: withdrawal)?.status == 200)
        #expect(await api.send("DELETE", "/v1/apps/coins/users/ann")?.status == 200)
        stage.simulator.state.inject(Fault(.status(503), operation: .sendConsumptionInformation))
        let answer = await api.send(
            "POST", "/v1/apps/coins/transactions/\(bob)/consumption", ["Prefer": "respond-async"],
            body: Self.consumption)
        #expect(answer?.status == 202)
        let backup = stage.folder.appending(path: "backup.db").path
        let copied = try await stage.command("backup", backup)
        #expect(copied.status == 0, "\(copied.errorOutput)")
        #expect(try await daemon.terminate() == 0)
        stage.simulator.state.removeAllFaults()
        return Legacy(backup: backup, annsPurchase: ann, bobsPurchase: bob)
    }

    /// What Apple has of a purchase.
    private func received(_ purchase: String, _ stage: DaemonStage) -> [ReceivedRequest] {
        stage.simulator.state.received.requests.filter {
            $0.operation == .sendConsumptionInformation && $0.identifier == purchase
                && $0.status.map { $0 < 300 } == true
        }
    }

    private func part(_ name: String, _ stage: DaemonStage) async throws -> JSONValue {
        let health = try #require(await stage.admin.send("GET", "/healthz")?.json)
        return try #require(health["parts"]?.array?.first { $0["name"] == .string(name) })
    }

    @Test func `with its master key it goes on elsewhere, and nobody who withdrew is forgotten`() async throws {
        try await DaemonStage.with { stage in
            let legacy = try await leaveLegacy(stage, importing: "IMPORTED01")
            let elsewhere = try stage.onAnotherHost()
            let restored = try await elsewhere.command("restore", legacy.backup)
            #expect(restored.status == 0, "\(restored.errorOutput)")
            // The backup does not have it.
            #expect(!FileManager.default.fileExists(atPath: elsewhere.masterKey))
            try FileManager.default.copyItem(atPath: stage.masterKey, toPath: elsewhere.masterKey)

            let daemon = try await elsewhere.start()
            #expect(try await part("sending", elsewhere)["detail"]?.string?.contains("backup") == true)
            let released = try await elsewhere.command("deliveries", "release")
            #expect(released.status == 0, "\(released.errorOutput)")
            try await Wait.until("Bob's answer to reach Apple") { !received(legacy.bobsPurchase, elsewhere).isEmpty }
            #expect(received(legacy.bobsPurchase, elsewhere).allSatisfy { $0.keyID == "IMPORTED01" })
            let refused = await elsewhere.api().send(
                "POST", "/v1/apps/coins/users/ann/consumption",
                body: Self.consumption.with("transactionId", .string(legacy.annsPurchase)))
            #expect(refused?.status == 409 && refused?.json?["reason"] == "CONSENT_WITHDRAWN")
            #expect(received(legacy.annsPurchase, elsewhere).isEmpty)
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `without its master key it sends and accepts nothing, says so, and goes on once the key is back`()
        async throws
    {
        try await DaemonStage.with { stage in
            let legacy = try await leaveLegacy(stage)
            let elsewhere = try stage.onAnotherHost()
            let restored = try await elsewhere.command("restore", legacy.backup)
            #expect(restored.status == 0)
            let masterKeyID = try MasterKeyFixture.lostID(in: restored.errorOutput)
            try await MasterKeyFixture.expectRefusal(elsewhere, of: masterKeyID)
            #expect(!FileManager.default.fileExists(atPath: elsewhere.masterKey))
            let lost = try await elsewhere.start(options: ["--accept-new-master-key=\(masterKeyID)"])
            let sending = try await part("sending", elsewhere)
            #expect(sending["healthy"] == false)
            let reason = try #require(sending["detail"]?.string)
            #expect(reason.contains("master key") && reason.contains("withdrawals of erased users"), "\(reason)")
            let released = try await elsewhere.command("deliveries", "release")
            #expect(released.status != 0 && released.errorOutput.contains("master key"), "\(released)")
            let api = elsewhere.api()
            let answer = await api.send(
                "POST", "/v1/apps/coins/transactions/\(legacy.bobsPurchase)/consumption", body: Self.consumption)
            #expect(answer?.status == 503 && answer?.json?["reason"] == "CONSENT_UNKNOWN")
            #expect(await api.send("GET", "/v1/apps/coins/deliveries")?.status == 200)
            #expect(await api.send("GET", "/v1/apps/coins/users/bob/links")?.status == 200)
            try await Wait.until("the daemon to be ready") {
                await elsewhere.health.send("GET", "/readyz")?.status == 200
            }
            #expect(try await lost.terminate() == 0)
            #expect(received(legacy.bobsPurchase, elsewhere).isEmpty)

            // In front of the one that it has made for itself, so that what was sealed meanwhile opens too.
            let lines = try [stage, elsewhere].map { try Data(contentsOf: URL(filePath: $0.masterKey)) }
            try (lines[0] + lines[1]).write(to: URL(filePath: elsewhere.masterKey))
            let found = try await elsewhere.start()
            #expect(try await elsewhere.command("deliveries", "release").status == 0)
            try await Wait.until("Bob's answer to reach Apple") { !received(legacy.bobsPurchase, elsewhere).isEmpty }
            #expect(received(legacy.annsPurchase, elsewhere).isEmpty)
            #expect(try await found.terminate() == 0)
        }
    }
}

extension JSONValue {
    /// An object with one member more.
    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(var object) = self else { return self }
        object[name] = value
        return .object(object)
    }
}
