import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// The runbook as an operator lives it: each command that it names is run against a daemon that has what the command is about.
@Suite(.endsHangs)
struct RunbookTests {
    private static let (new, old, caller) = ("NEWKEY0001", "OLDKEY0001", "shop")

    /// What a row leaves to the reader, after what it says.
    private static let rest: [String: [String]] = [
        "audit": ["list"],
        "callers rotate": ["NAME"],
        "cases decline": ["--app", "APP", "CASE"],
        "consumption send": [
            "--app", "APP", "CASE", "--customer-consented", "--delivery-status", "DELIVERED",
            "--no-sample-content-provided",
        ],
        "deliveries show": ["--app", "APP", "DELIVERY"],
        "import links": ["LINKS", "--app", "APP"],
        "keys activate": ["NEW"],
        "keys check": ["NEW"],
    ]

    /// The commands of the runbook and of the alerts, and those that the manual shows as examples; each once.
    private static func commands() throws -> (examples: [[String]], rows: [[String]]) {
        let all = try DocumentedCommand.all().filter { $0.document == "operations.md" }
        let examples = all.filter { $0.headings.last == "Commands" && $0.isWhole }.map(\.words)
        let rows = all.filter {
            !$0.headings.filter(["Recipes", "At three in the morning", "Alerts"].contains).isEmpty
        }
        var known: Set<[String]> = []
        return (examples, rows.map(\.words).filter { known.insert($0).inserted })
    }

    @Test func `every command of the runbook does its work`() async throws {
        let (examples, rows) = try Self.commands()
        #expect(examples.count > 10 && rows.count > 20)
        let settings = DaemonStage.Settings(
            scopes: ["callbacks:manage"], otherApps: ["gems"],
            callbacks: "{ allowedHosts: [localhost], allowedNetworks: [\"127.0.0.0/8\"] }")
        try await DaemonStage.with(settings) { stage in
            // Somebody has written down another app's id.
            let whole = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            try whole.replacing("appAppleId: 43", with: "appAppleId: 44")
                .write(toFile: stage.configuration, atomically: true, encoding: .utf8)
            let daemon = try await stage.start()
            let night = Night(stage: stage)
            try await night.begin()
            for words in examples { try await night.run(words) }
            // The row about quarantine: mend the configuration, reload.
            try whole.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
            let reload = try await stage.command("reload")
            #expect(reload.status == 0, "\(reload.errorOutput)")
            try await Wait.until("the quarantine to be empty") {
                await stage.admin.send("GET", "/v1/quarantine")?.json?["notifications"]?.array?.isEmpty == true
            }
            for words in rows { try await night.run(words) }
            let (list, keys) = (try await stage.command("cases", "list", "--app", "gems"), try await night.keys())
            #expect(list.output.contains("open"), "what was in quarantine is applied: \(list.output)")
            #expect(keys[Self.new] == "active" && keys[Self.old] == "revoked")
            #expect(try await daemon.terminate() == 0)
        }
    }

    /// A night on which everything happens that the runbook is about.
    private struct Night {
        let stage: DaemonStage

        /// Keys, a caller, a callback that fails, a user, and a notification that does not verify.
        func begin() async throws {
            for id in [RunbookTests.old, RunbookTests.new] {
                let file = try stage.makeKey(id, at: "\(id).p8").path
                try await succeed([
                    "keys", "import", file, "--id", id, "--issuer", DaemonStage.issuer, "--app", "coins",
                ])
            }
            try await succeed(["callers", "add", RunbookTests.caller, "--app", "coins", "--scope", "refunds:read"])
            let callback: JSONValue = ["url": "https://localhost:1/hook", "format": "cloudevents"]
            #expect(await stage.api().send("POST", "/v1/apps/coins/callbacks", body: callback)?.status == 201)
            try await open(of: "alice")
            let gems = try #require(
                NotificationURL("http://127.0.0.1:\(stage.webhookPort)/webhooks/apple/gems"))
            for environment in SimulatedEnvironment.allCases {
                try stage.simulator.state.setNotificationAddress(
                    NotificationAddress(url: gems), of: DaemonStage.bundleID(of: "gems"), in: environment)
            }
            let bought = try buy(of: "gems")
            try stage.simulator.state.requestRefund(of: bought, reason: .other)
            try await Wait.until("the quarantine to have it") {
                await stage.admin.send("GET", "/v1/quarantine")?.json?["notifications"]?.array?.isEmpty == false
            }
        }

        /// Runs a command as the documents have it, with what their placeholders stand for.
        func run(_ documented: [String]) async throws {
            let words = documented + (RunbookTests.rest[documented.joined(separator: " ")] ?? [])
            var arguments: [String] = []
            for word in words { arguments.append(try await meaning(of: word, in: words)) }
            switch words.prefix(2) {
            case ["callers", "hash"]:
                let made = try await DaemonStage.program(["callers", "hash"]).output
                let token = try #require(made.firstMatch(of: #/prs_\w+/#)?.output)
                let outcome = try await DaemonStage.program(arguments, input: "\(token)\n")
                #expect(outcome.status == 0, "\(words): \(outcome.errorOutput)")
                let digest = try #require(outcome.output.firstMatch(of: #/[0-9a-f]{64}/#)?.output)
                #expect(made.contains(digest))
            case ["config", "check"]:
                let outcome = try await DaemonStage.program(arguments + [stage.configuration])
                #expect(outcome.status == 0, "\(words): \(outcome.errorOutput)")
            default: try await succeed(arguments)
            }
        }

        private func succeed(_ arguments: [String]) async throws {
            let outcome = try await stage.command(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errorOutput)")
        }

        private func meaning(of word: String, in words: [String]) async throws -> String {
            switch word {
            case "APP": "coins"
            case "LINKS": try list()
            case "NAME": RunbookTests.caller
            case "NEW": RunbookTests.new
            case "OLD": RunbookTests.old
            case "USER": "alice"
            case "CASE": try await open(of: "alice")
            case "DELIVERY": try await first("/v1/apps/coins/deliveries", "deliveries", "id")
            case "UUID": try await first("/v1/apps/coins/notifications", "notifications", "notificationUUID")
            case "ID": try await first("/v1/apps/coins/callbacks", "callbacks", "id")
            case "7" where words.starts(with: ["quarantine", "show"]):
                try await first("/v1/quarantine", "notifications", "id")
            default: word
            }
        }

        /// A list of purchases that were somebody's elsewhere.
        private func list() throws -> String {
            let file = stage.folder.appending(path: "links.csv").path
            try "user,kind,value,environment\nbob,transactionId,\(buy(of: "coins")),Production\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }

        private func first(_ path: String, _ list: String, _ member: String) async throws -> String {
            let entry = try #require(await stage.admin.send("GET", path)?.json?[list]?[0], "\(path)")
            return try #require(entry[member]?.string ?? entry[member]?.int64.map { "\($0)" }, "\(path)")
        }

        private func buy(of app: String) throws -> String {
            var purchase = TransactionPayload()
            purchase.bundleId = DaemonStage.bundleID(of: app)
            purchase.productId = "sword"
            purchase.type = .consumable
            let account = try stage.simulator.state.createAccount(in: .production).id
            return try #require(try stage.simulator.state.buy(purchase, by: account).transactionId)
        }

        /// Lets a user ask Apple for money.
        ///
        /// - Returns: the case.
        @discardableResult
        private func open(of user: String) async throws -> String {
            let transaction = try buy(of: "coins")
            let link = "/v1/apps/coins/users/\(user)/links/transactionId/\(transaction)"
            #expect(await stage.admin.send("PUT", link).map { $0.status < 300 } == true)
            try stage.simulator.state.requestRefund(of: transaction, reason: .other)
            return try await Wait.value("the case of \(transaction)") {
                let cases = await stage.admin.send("GET", "/v1/apps/coins/cases?transactionId=\(transaction)")?.json
                return cases?["cases"]?[0]?["id"]?.string
            }
        }

        /// The states of the keys of `coins`.
        func keys() async throws -> [String: String] {
            let keys = try #require(await stage.admin.send("GET", "/v1/keys")?.json?["keys"]?.array)
            return Dictionary(
                keys.compactMap { key in
                    key["keyId"]?.string.map { ($0, key["state"]?.string ?? "") }
                }, uniquingKeysWith: { first, _ in first })
        }
    }
}
