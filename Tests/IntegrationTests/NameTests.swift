import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Apple's name does not resolve any more, resolves to another address, or the resolver hangs.
@Suite(.enabled(if: PreloadedLibrary.compiler != nil, "no C compiler here")) struct NameTests {
    /// A daemon that finds the App Store by its name, and a purchase.
    private struct Scene {
        let stage: DaemonStage
        let shim: NameShim
        let process: DaemonProcess
        let gems: String

        /// `appleTimes`: so that calls are given up, where a test is about that.
        static func with(
            appleTimes: DaemonStage.AppleTimes = .init(), _ body: @Sendable @escaping (Scene) async throws -> Void
        ) async throws {
            let settings = DaemonStage.Settings(
                appleTimes: appleTimes, scopes: ["transactions:read"], appleName: NameShim.name)
            try await DaemonStage.with(settings) { stage in
                let shim = try await NameShim(in: stage.folder)
                let process = try await stage.start(environment: shim.environment)
                let gems = try stage.sellGems(in: .sandbox)
                let scene = Scene(stage: stage, shim: shim, process: process, gems: gems)
                try await scene.isAnswered()
                try await body(scene)
            }
        }

        /// Asks Apple for the purchase.
        func read() async -> (status: Int?, reply: LocalClient.Reply?) {
            let target = "/v1/apps/coins/transactions/\(gems)?environment=Sandbox"
            let reply = await stage.api().send("GET", target)
            return (reply?.status, reply)
        }

        /// Waits for an answer of Apple's; until then it cannot be reached, or not in time.
        func isAnswered() async throws {
            try await Wait.until("calls to be answered") {
                let status = await read().status
                try #require([200, 503, 504].contains(status))
                return status == 200
            }
        }

        /// Has the App Store end the connection at the next question: after it another one is needed.
        func loseConnection() {
            stage.simulator.state.inject(
                Fault(.connectionReset(), environment: .sandbox, operation: .getTransactionInfo, count: 1))
        }

        func lines(_ text: String) -> [Substring] {
            process.log.text.split(separator: "\n").filter { $0.contains(text) && $0.contains("Sandbox") }
        }
    }

    @Test func `a name that is gone for a while costs nothing but the time`() async throws {
        try await Scene.with { scene in
            let stage = scene.stage
            try scene.shim.leads(to: nil)
            scene.loseConnection()
            let (status, reply) = await scene.read()
            #expect(status == 503 && reply?.json?["reason"] == "APPLE_UNAVAILABLE")
            let accepted = await stage.api().send(
                "POST", "/v1/apps/coins/transactions/\(scene.gems)/consumption?environment=Sandbox",
                ["Prefer": "respond-async"],
                body: ["customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false])
            #expect(accepted?.status == 202)
            let delivery = try #require(accepted?.json?["id"]?.string)
            func state() async -> JSONValue? {
                await stage.api().send("GET", "/v1/apps/coins/deliveries/\(delivery)")?.json?["state"]
            }
            try await Wait.until("the log to tell of it") {
                let status = await scene.read().status
                try #require(status == 503)
                return !scene.lines("Apple fails").isEmpty
            }
            #expect(scene.lines("Apple fails").allSatisfy { $0.contains("Could not resolve host") }, "it says why")
            #expect(await stage.health.send("GET", "/readyz")?.status == 200, "what needs no Apple goes on")
            let parts = await stage.admin.send("GET", "/healthz")?.json?["parts"]?.array
            let apple = parts?.first { $0["name"] == "apple:Sandbox" }
            #expect(apple?["healthy"] == false, "\(String(describing: parts))")
            #expect(try #require(await state()) != "accepted")
            try scene.shim.leads(to: "127.0.0.1")
            try await Wait.until("the delivery to be accepted") { await state() == "accepted" }
            try await scene.isAnswered()
            #expect(scene.lines("Apple fails").count == 1 && scene.lines("Apple answers again").count == 1)
            #expect(try await scene.process.terminate() == 0)
        }
    }

    @Test func `an address that has changed is used by the next connection`() async throws {
        try await Scene.with { scene in
            // An address of this machine at which nobody listens.
            try scene.shim.leads(to: "127.0.0.2")
            #expect(await scene.read().status == 200, "the connection that is there goes on")
            scene.loseConnection()
            #expect(await scene.read().status == 503)
            try scene.shim.leads(to: "127.0.0.1")
            #expect(await scene.read().status == 200)
            #expect(try await scene.process.terminate() == 0)
        }
    }

    @Test func `a resolver that hangs holds up neither others nor the end`() async throws {
        try await Scene.with(appleTimes: .short) { scene in
            try scene.shim.hangs()
            scene.loseConnection()
            #expect(await scene.read().status == 504)
            // The thread of libcurl does not wait with it: the watchdog would be fed.
            #expect(await scene.stage.health.send("GET", "/readyz")?.status == 200)
            try scene.shim.leads(to: "127.0.0.1")
            try await scene.isAnswered()
            try scene.shim.hangs()
            scene.loseConnection()
            #expect(await scene.read().status == 504)
            #expect(try await scene.process.terminate() == 0)
        }
    }
}
