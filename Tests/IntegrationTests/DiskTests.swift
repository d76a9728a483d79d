import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// A disk that is full or takes nothing: nothing is half accepted, nobody restarts anything, and it recovers by itself.
struct DiskTests {
    private static let consumption: JSONValue = [
        "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
    ]

    /// Whether a disk of its own can be made for a process here, and be looked at from outside; it takes root.
    private static let canMount =
        geteuid() == 0
        && system("unshare --user --map-root-user --mount mount -t tmpfs tmpfs /mnt >/dev/null 2>&1") == 0

    @Test func `when nothing can be written, everybody is told so, and all goes on when it can`()
        async throws
    {
        try await DaemonStage.with { stage in
            let manager = try NotifySocket(in: stage.folder)
            let process = try await stage.start(environment: manager.environment)
            let story = try Story(stage)
            try await story.before()
            try await process.limitFileSize(to: 0)
            try await story.meanwhile()
            // The process itself does well, and the service manager must not end it.
            try await manager.hears("WATCHDOG=1", times: 2)
            try await process.limitFileSize(to: nil)
            try await story.after()
            try await Self.isTold(process)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test(
        .enabled(if: PreloadedLibrary.compiler != nil, "no C compiler here"),
        arguments: [FaultShim.Disk.isFull, .fails, .isReadOnly])
    func `whatever a disk answers, nothing is half accepted and all goes on when it works`(disk: FaultShim.Disk)
        async throws
    {
        try await DaemonStage.with { stage in
            let shim = try await FaultShim(in: stage.folder)
            let process = try await stage.start(environment: shim.environment)
            let story = try Story(stage)
            try await story.before()
            try shim.disk(disk)
            try await Wait.until("the disk to fail") { await stage.health.send("GET", "/readyz")?.status == 503 }
            try await story.meanwhile()
            try shim.disk(.works)
            try await story.after()
            try await Self.isTold(process)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test(.enabled(if: canMount, "no mounts here")) func `a full disk is as good as none`()
        async throws
    {
        try await DaemonStage.with { stage in
            let store = stage.storeFolder.path
            let process = try await stage.start(
                after: Self.mounting("mount -t tmpfs -o size=3m tmpfs \(store)"))
            let story = try Story(stage)
            try await story.before()
            // The daemon's disk, seen from here.
            let filler = URL(filePath: "/proc/\(process.processID)/root\(store)/filler")
            try Self.fill(filler)
            try await story.meanwhile()
            try FileManager.default.removeItem(at: filler)
            try await story.after()
            try await Self.isTold(process)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test(.enabled(if: canMount, "no mounts here"))
    func `on a disk that is read-only it does not start, and says why`()
        async throws
    {
        try await DaemonStage.with { stage in
            let store = stage.storeFolder.path
            let process = try stage.launch(
                after: Self.mounting("mount --bind \(store) \(store) && mount -o remount,bind,ro \(store)"))
            #expect(try await process.ended == 1)
            #expect(process.log.text.contains("\(store)/purser."))
            #expect(process.log.text.localizedCaseInsensitiveContains("read-only"))
        }
    }

    @Test func `a database that is removed under it is noticed, and nothing that was promised is lost`() async throws {
        try await DaemonStage.with { stage in
            let process = try await stage.start()
            let story = try Story(stage)
            try await story.before()
            for suffix in ["", "-wal", "-shm"] {
                try FileManager.default.removeItem(at: stage.storeFolder.appending(path: "purser.db\(suffix)"))
            }
            try await story.meanwhile()
            let health = await stage.admin.send("GET", "/healthz")
            #expect(health.map { String(decoding: $0.body, as: UTF8.self) }?.contains("was removed or renamed") == true)
            let saved = stage.storeFolder.appending(path: "saved.db").path
            let copied = try await stage.command("backup", saved)
            #expect(copied.status == 0, "\(copied.errorOutput)")
            #expect(try await process.terminate() == 0)
            let restored = try await stage.command("restore", saved)
            #expect(restored.status == 0, "\(restored.errorOutput)")
            let next = try await stage.start()
            let released = try await stage.command("deliveries", "release")
            #expect(released.status == 0, "\(released.errorOutput)")
            try await story.isStillKnown()
            try await story.after()
            #expect(try await next.terminate() == 0)
        }
    }

    /// One clear line says that it begins, and one that it is over; what comes to nothing meanwhile adds none but the answers.
    private static func isTold(_ process: DaemonProcess) async throws {
        try await Wait.until("the log to say that it is over") {
            process.log.text.contains("The store can be written again")
        }
        let lines = process.log.text.split(separator: "\n")
        // A busy machine's disk may besides have taken seconds for a write.
        let begins = lines.filter { $0.contains("The store cannot be written") }
        #expect(!begins.isEmpty && begins.count { !$0.contains("takes longer") } <= 1, "\(begins)")
        #expect(lines.count { $0.contains("The store can be written again") } == begins.count)
        let failures = lines.filter { $0.contains("SQLite") && !$0.contains("Request answered") }.map { line in
            (try? JSONValue(parsing: Array(line.utf8)))?["message"]?.string
        }
        #expect(Set(failures).count == failures.count, "no line is repeated: \(failures)")
    }

    /// A command that sees other mounts than everybody else.
    private static func mounting(_ script: String) -> [String] {
        [
            "unshare", "--user", "--map-root-user", "--mount", "bash", "-c", "\(script) && exec \"$@\"",
            "mounting",
        ]
    }

    /// Writes until there is no room.
    private static func fill(_ file: URL) throws {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        for count in [65_536, 4096, 1] {
            let data = Data(repeating: 0, count: count)
            while (try? handle.write(contentsOf: data)) != nil {}
        }
    }

    /// What callers, Apple and probes see.
    private struct Story {
        let stage: DaemonStage
        let account: String
        let (user, gems, sword): (String, String, String)

        init(_ stage: DaemonStage) throws {
            self.stage = stage
            user = UUID().uuidString.lowercased()
            account = try stage.simulator.state.createAccount(in: .sandbox).id
            gems = try stage.sellGems(to: account, token: user)
            sword = try stage.sellGems(to: account, token: user)
        }

        func before() async throws {
            try await isReady()
            #expect(try await send(sword).status == 200)
        }

        /// What was accepted before.
        func isStillKnown() async throws {
            let list = await stage.api().send("GET", "/v1/apps/coins/deliveries?transactionId=\(sword)")
            #expect(list?.json?["deliveries"]?[0]?["state"] == "accepted")
        }

        func meanwhile() async throws {
            for _ in 0..<3 {
                let reply = try await send(gems)
                #expect(reply.status == 503)
                #expect(reply.json?["reason"] == "STORE_UNAVAILABLE")
            }
            #expect(await stage.health.send("GET", "/readyz")?.status == 503)
            #expect(await stage.health.send("GET", "/livez")?.status == 200)
            let state = stage.simulator.state
            try state.requestRefund(of: gems, reason: .other)
            try await Wait.bounding("an attempt to notify") {
                await state.wait(for: .notificationAttempted) { !($0.notifications.last?.attempts.isEmpty ?? true) }
            }
            #expect(state.notifications.last?.attempts.first?.result == .unsuccessfulHTTPResponseCode)
            #expect(received.isEmpty)
        }

        func after() async throws {
            try await isReady()
            #expect(try await send(gems).status == 200)
            let list = await stage.api().send("GET", "/v1/apps/coins/deliveries?transactionId=\(gems)")
            #expect(list?.json?["deliveries"]?.array?.count == 1)
            #expect(received.count == 1)
        }

        private func isReady() async throws {
            try await Wait.until("the daemon to be ready") {
                await stage.health.send("GET", "/readyz")?.status == 200
            }
        }

        private func send(_ transaction: String) async throws -> LocalClient.Reply {
            let path = "/v1/apps/coins/transactions/\(transaction)/consumption"
            return try #require(
                await stage.api().send("POST", path, ["Prefer": "wait=\(Wait.seconds)"], body: DiskTests.consumption))
        }

        private var received: [ReceivedRequest] {
            stage.simulator.state.received.requests.filter {
                $0.operation == .sendConsumptionInformation && $0.identifier == gems
            }
        }
    }
}
