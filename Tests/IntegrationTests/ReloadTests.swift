import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// The configuration of a daemon that runs is read anew: by a command, by a signal, and under load.
@Suite(.endsHangs) struct ReloadTests {
    private static let scopes = ["policies:read", "transactions:read"]

    /// Changes the text of the configuration file.
    private func edit(_ stage: DaemonStage, _ change: (inout String) -> Void) throws {
        var text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        change(&text)
        try text.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
    }

    /// The configuration without the app `gems` and the caller `game`.
    private func smaller(_ text: String) -> String {
        text.replacing(#/, gems: \[[^\]]*\]/#, with: "").replacing("[coins, gems]", with: "[coins]")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("  gems:") && !$0.hasPrefix("  game:") }.joined(separator: "\n")
    }

    /// How `/healthz` tells of the configuration.
    private func health(_ stage: DaemonStage) async throws -> (isHealthy: Bool, detail: String) {
        let report = try #require(await stage.admin.send("GET", "/healthz")?.json)
        let part = try #require(report["parts"]?.array?.first { $0["name"]?.string == "configuration" })
        return (part["healthy"] == true, try #require(part["detail"]?.string))
    }

    @Test func `apps, callers, policies and the log's level come and go without a restart`() async throws {
        try await DaemonStage.with(.init(scopes: Self.scopes, otherApps: ["gems"])) { stage in
            let daemon = try await stage.start()
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            let policies = "/v1/apps/gems/policies"
            #expect(await stage.api("game").send("GET", policies)?.status == 200)
            try edit(stage) { $0 = smaller($0) }
            let less = try await stage.command("reload")
            #expect(less.status == 0, "\(less.errorOutput)")
            #expect(
                less.output
                    == "apps: removed gems\ncallers: removed game; changed billing, support\nkeys: changed ABCDEFGHIJ\n"
            )
            #expect(await stage.api("game").send("GET", policies)?.status == 401)
            #expect(await stage.api().send("GET", policies)?.status == 404)
            try edit(stage) {
                $0 = whole.replacing(
                    "gems: { bundleId: com.example.gems,",
                    with: "gems: { bundleId: com.example.gems, refundPolicy: [{ rule: quiet, silence: true }],"
                ).replacing("level: info", with: "level: debug")
            }
            let more = try await stage.command("reload", "--output", "json")
            #expect(more.status == 0, "\(more.errorOutput)")
            let answer = try JSONValue(parsing: Array(more.output.utf8))
            #expect(answer["generation"] == 3 && answer["needsRestart"]?.array?.isEmpty == true)
            let changes = answer["changes"]?.array ?? []
            #expect(
                changes.compactMap { $0["part"]?.string }
                    == ["apps", "refundPolicies", "callers", "settings", "keys"])
            #expect(changes.first { $0["part"]?.string == "settings" }?["changed"]?.array?.first == "log.level")
            let policy = await stage.api("game").send("GET", policies)
            #expect(policy?.status == 200 && policy?.json?.serializedString().contains("quiet") == true)
            #expect(try await stage.command("reload").output == "Nothing has changed.\n")
            let state = try await health(stage)
            #expect(state.isHealthy && state.detail.hasPrefix("generation 4, loaded "))
            // Which line of the program says something is told at that level alone.
            let told = daemon.log.text.split(separator: "\n").filter { $0.contains("The configuration is reloaded") }
            #expect(told.map { $0.contains(#""location":"#) } == [false, true, true])
            let records = try await stage.command("audit", "list", "--action", "configurationLoaded")
            #expect(records.output.contains("operator:\(getuid())"), "\(records)")
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `what is wrong changes nothing, is told with file, line and reason, and ends with 78`() async throws {
        try await DaemonStage.with(.init(scopes: Self.scopes, otherApps: ["gems"])) { stage in
            let daemon = try await stage.start()
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            try edit(stage) { $0 = smaller($0).replacing("level: info", with: "level: loud") + "unknown: 1\n" }
            let wrong = try await stage.command("reload")
            #expect(wrong.status == 78 && wrong.output.isEmpty)
            #expect(wrong.errorOutput.contains("\(stage.configuration):1:15: log.level: "), "\(wrong.errorOutput)")
            #expect(wrong.errorOutput.contains("unknown"), "every problem at once")
            #expect(await stage.api("game").send("GET", "/v1/apps/gems/policies")?.status == 200)
            var state = try await health(stage)
            #expect(!state.isHealthy && state.detail.contains("the last reload changed nothing: "))
            #expect(await stage.health.send("GET", "/readyz")?.status == 200)
            let metrics = String(decoding: await stage.health.send("GET", "/metrics")?.body ?? [], as: UTF8.self)
            #expect(metrics.contains("\npurser_config_last_reload_successful 0\n"))
            // The file itself is right; what it names is not.
            let lines = smaller(whole).split(separator: "\n", omittingEmptySubsequences: false)
            let line = 1 + (try #require(lines.firstIndex { $0.contains("id: ABCDEFGHIJ") }))
            try edit(stage) { $0 = smaller(whole).replacing("key.p8", with: "other.p8") }
            let missing = try await stage.command("reload")
            #expect(missing.status == 78)
            #expect(
                missing.errorOutput.contains("\(stage.configuration):\(line):")
                    && missing.errorOutput.contains("other.p8"))
            #expect(await stage.api("game").send("GET", "/v1/apps/gems/policies")?.status == 200)
            // Not even YAML: the command finds the daemon all the same.
            try edit(stage) { $0 = "log: {" }
            #expect(try await stage.command("reload").status == 78)
            try edit(stage) { $0 = smaller(whole) }
            #expect(try await stage.command("reload").status == 0)
            #expect(await stage.api("game").send("GET", "/v1/apps/gems/policies")?.status == 401)
            state = try await health(stage)
            #expect(state.isHealthy && state.detail.hasPrefix("generation 2, "))
            #expect(daemon.log.text.contains("The configuration is not reloaded; the one before stays in force"))
            #expect(try await daemon.terminate() == 0)
            let nobody = try await stage.command("reload")
            #expect(nobody.status == 1 && nobody.errorOutput.contains("No daemon answers"))
        }
    }

    @Test func `what needs a restart is said as long as it does, and the rest is taken`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            try edit(stage) {
                $0 = $0.replacing("drainDelay: 0s", with: "drainDelay: 1s")
                    .replacing("purser.db", with: "other.db").replacing("purser.audit", with: "other.audit")
                    .replacing("level: info", with: "level: notice")
            }
            let first = try await stage.command("reload")
            #expect(first.status == 0)
            #expect(
                first.output
                    == "settings: changed log.level\nneeds a restart: store, masterKey, audit, shutdown\n")
            #expect(try await stage.command("reload").output.contains("needs a restart: store, "))
            #expect(
                try await health(stage).detail.hasSuffix("; a restart is needed for store, masterKey, audit, shutdown"))
            try edit(stage) { $0 = whole }
            #expect(try await stage.command("reload").output == "settings: changed log.level\n")
            #expect(try await !health(stage).detail.contains("restart"))
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `hosts of callbacks come and go without a restart`() async throws {
        let settings = DaemonStage.Settings(scopes: ["callbacks:manage"], callbacks: "{ allowedHosts: [localhost] }")
        try await DaemonStage.with(settings) { stage in
            let daemon = try await stage.start()
            func add(_ url: String) async -> Int? {
                let callback: JSONValue = ["url": .string(url), "format": "cloudevents"]
                return await stage.api().send("POST", "/v1/apps/coins/callbacks", body: callback)?.status
            }
            let (first, second) = ("https://localhost:1/hook", "https://hooks.example.invalid/purser")
            #expect(await add(first) == 201)
            #expect(await add(second) == 400)
            try edit(stage) { $0 = $0.replacing("[localhost]", with: "[hooks.example.invalid]") }
            let reload = try await stage.command("reload")
            #expect(reload.status == 0 && reload.output.contains("callbacks"), "\(reload)")
            #expect(await add(second) == 201)
            #expect(await add(first) == 400)
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `a signal does the same, and the service manager is told`() async throws {
        try await DaemonStage.with(.init(otherApps: ["gems"])) { stage in
            let socket = try NotifySocket(in: stage.folder)
            let daemon = try await stage.start(environment: socket.environment)
            try edit(stage) { $0 = smaller($0) }
            socket.forget()
            Foundation.kill(daemon.processID, SIGHUP)
            try await socket.hears("RELOADING=1\nMONOTONIC_USEC=", times: 1, alsoBefore: true)
            try await socket.hears("READY=1\nSTATUS=Serving 1 apps", times: 1, alsoBefore: true)
            #expect(try await health(stage).detail.hasPrefix("generation 2, "))
            try edit(stage) { $0 = "nonsense" }
            socket.forget()
            Foundation.kill(daemon.processID, SIGHUP)
            try await socket.hears("READY=1\nSTATUS=Serving 1 apps", times: 1, alsoBefore: true)
            #expect(try await !health(stage).isHealthy)
            #expect(try await daemon.terminate() == 0)
        }
    }

    /// Whether a server's certificate leads to an authority.
    private func isTrusted(_ port: Int, _ authority: String) async throws -> Bool {
        try await ChildProcess.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority, "-verify_return_error"]
        ).status == 0
    }

    @Test func `a certificate in other files is shown to new connections, and one that is of no use changes nothing`()
        async throws
    {
        try await DaemonStage.with(.init(webhookIsTLS: true)) { stage in
            let daemon = try await stage.start()
            let authority = try TestAuthority()
            let other = stage.folder.appending(path: "other-ca.pem").path
            try authority.certificate.pem().write(toFile: other, atomically: true, encoding: .utf8)
            try authority.server().write(
                chain: stage.folder.appending(path: "other.pem").path,
                key: stage.folder.appending(path: "other.key").path)
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            try edit(stage) { $0 = $0.replacing("webhook.pem", with: "other.pem").replacing("info", with: "notice") }
            let wrong = try await stage.command("reload")
            #expect(
                wrong.status == 78 && wrong.errorOutput.contains("listeners.webhook.tls.certificateChain"), "\(wrong)")
            #expect(try await isTrusted(stage.webhookPort, stage.webhookAuthority))
            try edit(stage) { $0 = $0.replacing("webhook.key", with: "other.key") }
            let right = try await stage.command("reload")
            #expect(right.status == 0 && right.output.contains("certificates: changed webhook\n"), "\(right)")
            #expect(try await isTrusted(stage.webhookPort, other))
            #expect(try await !isTrusted(stage.webhookPort, stage.webhookAuthority))
            try edit(stage) { $0 = whole }
            #expect(try await stage.command("reload").status == 0)
            #expect(try await isTrusted(stage.webhookPort, stage.webhookAuthority))
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `no request fails while the configuration is swapped under load`() async throws {
        try await DaemonStage.with(.init(scopes: Self.scopes, standbyKeys: ["KLMNOPQRST"], otherApps: ["gems"])) {
            stage in
            let daemon = try await stage.start()
            let account = try stage.simulator.state.createAccount(in: .production).id
            var purchase = TransactionPayload()
            (purchase.bundleId, purchase.productId, purchase.type) = (DaemonStage.bundleID, "gems", .consumable)
            let id = try #require(try stage.simulator.state.buy(purchase, by: account).transactionId)
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            // Another key signs, an app and a caller are gone.
            let other = smaller(whole)
                .replacing("state: active", with: "state: STANDBY").replacing("state: standby", with: "state: active")
                .replacing("state: STANDBY", with: "state: standby")
            let end = OneTime<Bool>()
            let targets = [
                "/v1/apps/coins/transactions/\(id)?environment=Production", "/v1/apps/coins/policies",
                "/v1/apps/coins/deliveries",
            ]
            let client = stage.api()
            try await withThrowingTaskGroup(of: (answered: Int, failed: [String]).self) { tasks in
                for number in 0..<4 {
                    tasks.addTask {
                        var (answered, failed) = (0, [String]())
                        while end.now == nil || answered < 10 {
                            let target = targets[(number + answered) % targets.count]
                            let reply = await client.send("GET", target)
                            if reply?.status != 200 {
                                failed.append("\(target): \(reply.map { "\($0.status)" } ?? "nothing")")
                            }
                            answered += 1
                        }
                        return (answered, failed)
                    }
                }
                for number in 1...20 {
                    try (number % 2 == 0 ? whole : other)
                        .write(toFile: stage.configuration, atomically: true, encoding: .utf8)
                    let reply = await stage.admin.send("POST", "/v1/configuration:reload")
                    #expect(
                        reply?.status == 200 && reply?.json?["generation"] == .number(JSONNumber(Int64(number + 1))))
                }
                end.give(true)
                for try await (answered, failed) in tasks { #expect(answered >= 10 && failed.isEmpty) }
            }
            #expect(try await daemon.terminate() == 0)
        }
    }
}
