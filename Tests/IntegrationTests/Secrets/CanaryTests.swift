import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// A daemon at its most talkative, with everything going wrong, and then a search for what nobody may find.
struct CanaryTests {
    /// The tokens of callers, of the length that ours have.
    private static let token = "prs_canary_\(UUID().uuidString)"
    private static let refusedToken = "prs_refused_\(UUID().uuidString)"
    private static let app = "/v1/apps/coins"

    /// What the App Store, or what stands before it, does to calls.
    private static let faults: [Fault.Effect] = [
        .status(500, errorCode: 5_000_001, errorMessage: "An unknown error occurred."),
        .status(429, errorCode: 4_290_000), .status(401), .status(404), .status(400, errorCode: 4_000_006), .garbage,
        .truncatedBody, .connectionReset(), .tampering(.wrongSignature),
    ]

    /// What a story did, and what came of it that is to be searched.
    private final class Evidence {
        /// Answers that say what went wrong; each may be read by others than the one who asked.
        var problems: [String] = []
        /// Everything else that was answered.
        var answers: [String] = []
        /// Tokens and signatures that were handed out.
        var handedOut: [String] = []
        var processes: [MarkerSearch.Finding] = []

        func note(_ reply: LocalClient.Reply?) throws {
            let reply = try #require(reply)
            let text = reply.headers.map { "\($0): \($1)\n" }.joined() + String(decoding: reply.body, as: UTF8.self)
            if reply.status < 400 { answers.append(text) } else { problems.append("\(reply.status) \(text)") }
        }
    }

    /// What a customer has that concerns nobody else.
    private struct Customer {
        let user: String
        let transaction: String
        /// The receipt of the customer's device, in Base64.
        let receipt: String
        /// Sent in an answer to Apple.
        let accountToken = UUID().uuidString.lowercased()
        let note = "note-\(UUID().uuidString)"

        init(in stage: DaemonStage) throws {
            user = "user-\(UUID().uuidString)"
            let account = try stage.simulator.state.createAccount(in: .production).id
            var purchase = TransactionPayload()
            purchase.bundleId = DaemonStage.bundleID
            purchase.productId = "gems"
            purchase.type = .consumable
            transaction = try #require(try stage.simulator.state.buy(purchase, by: account).transactionId)
            let content = try stage.simulator.state.appReceipt(of: account, in: DaemonStage.bundleID)
            receipt = Data(try stage.simulator.receipts.appReceipt(content, ReceiptForm())).base64EncodedString()
        }

        var markers: [Marker] {
            get throws {
                // Certificates and the bundle id are in every receipt; the signature at the end is in this one alone.
                let bytes = try #require(Data(base64Encoded: receipt))
                return [
                    Marker("a user's id", user), Marker("a receipt", Data(bytes.suffix(40).prefix(32))),
                    Marker("a receipt", String(receipt.dropLast(24).suffix(40))),
                    Marker("a consumption value", accountToken), Marker("a note", note),
                ]
            }
        }

        /// Apple's version 1, whose fields tell most.
        var consumption: JSONValue {
            [
                "accountTenure": 4, "appAccountToken": .string(accountToken), "consumptionStatus": 3,
                "customerConsented": true, "deliveryStatus": 0, "lifetimeDollarsPurchased": 2,
                "lifetimeDollarsRefunded": 1, "platform": 1, "playTime": 7, "refundPreference": 2,
                "sampleContentProvided": true, "userStatus": 1,
            ]
        }
    }

    @Test func `whatever goes wrong, no secret and nothing of a customer is where it does not belong`() async throws {
        // So little that a call which Apple does not answer is given up soon.
        var settings = DaemonStage.Settings(appleTimes: .init(connect: 1, attempt: 1, deadline: 2))
        settings.callers = ["billing": Self.token]
        settings.scopes = ["signatures:create", "tokens:mint", "transactions:read", "refunds:read", "consent:read"]
        settings.logLevel = "trace"
        settings.standbyKeys = ["STANDBYKEY"]
        try await DaemonStage.with(settings) { stage in
            let temporary = stage.folder.appending(path: "temporary")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
            let daemon = try await stage.start(environment: ["TMPDIR": temporary.path], logLines: .max)
            let evidence = Evidence()
            let customer = try Customer(in: stage)
            let api = stage.api("billing")

            try await tellEverything(of: customer, to: api, evidence)
            for fault in Self.faults {
                let id = stage.simulator.state.inject(Fault(fault))
                try await askForEverything(about: customer, from: api, evidence)
                stage.simulator.state.removeFault(id)
            }
            try await sayWrongThings(about: customer, to: api, evidence)
            try await refuse(LocalClient(socket: api.socket), customer, evidence)

            let backup = stage.folder.appending(path: "backup.db")
            let command = try await Self.purser(["backup", backup.path, "--config", stage.configuration])
            #expect(command.status == 0, "\(command)")
            let doctor = try await Self.purser(
                ["doctor", "--config", stage.configuration, "--skip-test-notifications"])
            let metrics = try #require(await stage.health.send("GET", "/metrics"))
            try #require(metrics.status == 200)

            let secrets = MarkerSearch(markers: try Self.secrets(of: stage) + evidence.handedOut.map(Self.signed))
            let personal = MarkerSearch(markers: try customer.markers)
            let all = MarkerSearch(markers: secrets.markers + personal.markers)
            // What is searched is there.
            try #require(daemon.log.text.split(separator: "\n").count > 100 && evidence.problems.count > 50)
            try #require(evidence.handedOut.count >= 2)
            try #require(!personal.findings(in: evidence.answers.joined(), "answers").isEmpty)
            try #require(try !personal.findings(below: stage.storeFolder).isEmpty)
            try #require(try !personal.findings(in: Data(contentsOf: backup), "backup").isEmpty)

            var found = all.findings(in: daemon.log.text, "the log")
            found += all.findings(in: String(decoding: metrics.body, as: UTF8.self), "the metrics")
            found += all.findings(in: command.output + command.errorOutput, "what `backup` says")
            found += all.findings(in: doctor.output + doctor.errorOutput, "what `doctor` says")
            for problem in evidence.problems { found += all.findings(in: problem, "a problem: \(problem)") }
            found += secrets.findings(in: evidence.answers.joined(separator: "\n"), "the answers")
            found += try all.findings(inProcess: daemon.processID)
            found += try all.findings(below: temporary)
            found += try secrets.findings(below: stage.folder, without: Self.homes)
            found += try personal.findings(below: stage.storeFolder, without: Self.databases)
            #expect(try await daemon.terminate() == 0)
            // What the end of the daemon writes, too.
            found += try secrets.findings(below: stage.folder, without: Self.homes)
            found += all.findings(in: daemon.log.text, "the log")
            #expect(Set(found).isEmpty, "\(Set(found).map(\.description).sorted().joined(separator: "\n"))")
        }
    }

    // MARK: What is looked for

    /// Where the secrets themselves are.
    private static let homes: Set<String> = ["key.p8", "STANDBYKEY.p8", "store/purser.masterkey"]
    /// Where what customers told belongs.
    private static let databases: Set<String> = ["purser.db", "purser.db-wal", "purser.db-shm"]

    private static func secrets(of stage: DaemonStage) throws -> [Marker] {
        var markers = [Marker("a caller's token", token), Marker("a refused token", refusedToken)]
        for name in ["key.p8", "STANDBYKEY.p8"] {
            markers += try Marker.key(
                name, pem: String(contentsOf: stage.folder.appending(path: name), encoding: .utf8))
        }
        let master = try String(contentsOf: stage.storeFolder.appending(path: "purser.masterkey"), encoding: .utf8)
        let digits = try #require(master.split(separator: "\n").first)
        try #require(digits.count == 64)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
        return markers + [Marker("the master key", Data(bytes)), Marker("the master key", String(digits))]
    }

    /// A token or signature, by the part that nobody can make again.
    private static func signed(_ token: String) -> Marker { Marker("what was signed", String(token.suffix(40))) }

    private static func purser(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        return try await ChildProcess.run([program.path] + arguments)
    }
}

// MARK: The stories

extension CanaryTests {
    /// Tells a user's links, consent, receipt and consumption, while nothing is wrong.
    private func tellEverything(of customer: Customer, to api: LocalClient, _ evidence: Evidence) async throws {
        let user = "\(Self.app)/users/\(customer.user)"
        try evidence.note(await api.send("PUT", "\(user)/links/transactionId/\(customer.transaction)"))
        try evidence.note(
            await api.send("PUT", "\(user)/consent", body: ["consented": true, "source": "settings"]))
        try await askForEverything(about: customer, from: api, evidence)
        // With the user's signature, which is handed out and nowhere else.
        let body: JSONValue = [
            "productId": "gems", "offerIdentifier": "offer", "transactionId": .string(customer.transaction),
        ]
        evidence.handedOut = [
            try await handedOut("signature", by: api, at: "\(Self.app)/signatures/promotionalOffer", body),
            try await handedOut("token", by: api, at: "\(Self.app)/tokens", nil),
        ]
    }

    /// What is signed for a caller; on a busy machine not at the first asking, as little as requests may take here.
    private func handedOut(
        _ field: String, by api: LocalClient, at path: String, _ body: JSONValue?
    ) async throws -> String {
        try await Wait.value("a \(field)") { await api.send("POST", path, body: body)?.json?[field]?.string }
    }

    /// Makes each kind of call that ends at Apple, with what is a customer's, all at the same time.
    private func askForEverything(about customer: Customer, from api: LocalClient, _ evidence: Evidence) async throws {
        let receipt: JSONValue = [
            "receipt": .string(customer.receipt), "user_identifier": .string(customer.user),
        ]
        let transaction = "\(Self.app)/transactions/\(customer.transaction)"
        let calls: [@Sendable () async -> LocalClient.Reply?] = [
            { await api.send("GET", transaction) },
            { await api.send("GET", "\(Self.app)/users/\(customer.user)") },
            {
                await api.send(
                    "POST", "\(transaction)/consumption", ["Prefer": "respond-async"], body: customer.consumption)
            },
            { await api.send("POST", "\(Self.app)/receipts", body: receipt) },
            { await api.send("GET", "\(Self.app)/events?after=0&limit=1000") },
            { await api.send("GET", "\(Self.app)/deliveries") },
        ]
        let answers = await withTaskGroup { group in
            for call in calls { group.addTask { await call() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for answer in answers { try evidence.note(answer) }
    }

    /// Sends what no rule allows, with what is a customer's or secret in it.
    private func sayWrongThings(about customer: Customer, to api: LocalClient, _ evidence: Evidence) async throws {
        let transaction = "\(Self.app)/transactions/\(customer.transaction)"
        let note = customer.note
        let contents = [
            "{\"note\":\"\(note)\"", "\(note)", "{\"customerConsented\":\"\(note)\"}",
            "{\"customerConsented\":true,\"customerConsented\":\"\(note)\"}",
            "{\"customerConsented\":true,\"appAccountToken\":\"\(note)\"}", "{\"receipt\":\"\(note)\"}",
            "{\"receipt\":\"\(customer.receipt.dropLast(100))\"}", "[\"\(customer.receipt)\"]",
            "{\"consented\":\"\(note)\",\"source\":7}", "\"\(Self.token)\"", "{\"token\":\"\(Self.token)\"}\u{0}",
        ]
        for content in contents {
            for (method, target) in [
                ("POST", "\(transaction)/consumption"), ("POST", "\(Self.app)/receipts"),
                ("PUT", "\(Self.app)/users/\(customer.user)/consent"),
                ("POST", "\(Self.app)/signatures/promotionalOffer"),
            ] {
                try evidence.note(await api.send(method, target, content: Array(content.utf8)))
            }
        }
    }

    /// Comes with credentials that are none, or in the wrong way.
    private func refuse(_ stranger: LocalClient, _ customer: Customer, _ evidence: Evidence) async throws {
        let target = "\(Self.app)/transactions/\(customer.transaction)"
        for credential in [
            "Bearer \(Self.refusedToken)", "Basic \(Data(Self.refusedToken.utf8).base64EncodedString())",
            "Bearer \(Self.token) \(Self.refusedToken)", "bearer: \(Self.refusedToken)", Self.token,
        ] {
            let reply = try #require(await stranger.send("GET", target, ["Authorization": credential]))
            #expect(reply.status == 401)
            try evidence.note(reply)
        }
    }
}
