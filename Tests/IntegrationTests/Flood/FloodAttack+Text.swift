import AppStoreSimulator
import Foundation
import JOSE

/// Attacks with text that takes quadratic time to compare.
extension FloodAttack {
    static let texts = anonymousTexts + headerFields + callersTexts

    private static let bounds = FloodBounds()

    private static func flooding(
        _ name: String, _ what: String, _ settings: DaemonStage.Settings = DaemonStage.Settings(),
        honest: Honest = .apple, at listener: String, connections: Int = 8,
        _ requests: @escaping @Sendable (DaemonStage) throws -> [[UInt8]]
    ) -> FloodAttack {
        FloodAttack(name: name, what: what, settings: settings, honest: honest, bounds: bounds) { stage in
            let (requests, port) = (try requests(stage), stage.port(of: listener))
            let flood = RequestFlood(connections: connections) { requests[$0 % requests.count] }
            return [Attacker { flood.run(on: port, $0) }]
        }
    }

    // MARK: Without a credential

    private static let webhook = "/webhooks/apple/coins"

    private static let anonymousTexts = [
        flooding(
            "marks-in-names", "posts with a member name of 64 to 256 KB of combining marks", at: "webhook",
            connections: 3
        ) { _ in
            [64, 128, 256].map {
                HostileRequest.post(HostileRequest.object(HostileRequest.marks($0 << 10), [0x31]), to: webhook)
            }
        },
        flooding(
            "marks-in-tokens", "posts with 64 KB of combining marks as `alg`, `environment` or `bundleId` of a token",
            at: "webhook"
        ) { stage in
            try SignedContent(stage: stage).withMarks(64 << 10).map { HostileRequest.post($0, to: webhook) }
        },
    ]

    // MARK: Header fields

    /// A request for each header field that the daemon reads, with 28 KB of marks.
    private static func fields(_ method: String, _ target: String) -> [[UInt8]] {
        let marks = HostileRequest.marks(28 << 10)
        let values = [
            ("Prefer", marks + Array("=1".utf8)), ("Accept", marks + Array("/*;q=1".utf8)), ("Connection", marks),
            ("Content-Type", marks + Array("/json".utf8)), ("Authorization", marks + Array(" x".utf8)),
        ]
        return values.map { HostileRequest.request(method, target, [$0], body: method == "POST" ? [] : nil) }
    }

    private static let headerFields = [
        flooding("marks-in-fields", "header fields with 28 KB of combining marks at `webhook`", at: "webhook") { _ in
            fields("POST", webhook)
        },
        flooding(
            "marks-in-fields-of-callers", "the same at `api`", atPorts, honest: .callers("/v1/apps/coins/cases"),
            at: "api"
        ) { _ in fields("POST", "/v1/apps/coins/users/bob/consumption") },
        flooding(
            "marks-in-fields-of-probes", "the same at `health`", atPorts, honest: .probes,
            at: "health"
        ) { _ in fields("GET", "/livez") + fields("GET", "/metrics") },
    ]

    /// All clients connect to ports.
    private static var atPorts: DaemonStage.Settings {
        var settings = DaemonStage.Settings()
        settings.apiHasPort = true
        settings.ports = ["health", "grpc"]
        settings.scopes = ["transactions:read"]
        settings.callers = ["greedy": "prs_greedy"]
        for number in 1...9 { settings.callers["caller\(number)"] = "prs_caller\(number)" }
        return settings
    }

    // MARK: Of a caller

    private static func posting(
        _ name: String, _ what: String, _ bodies: @escaping @Sendable () -> [(target: String, body: [UInt8])]
    ) -> FloodAttack {
        flooding(name, what, atPorts, honest: .callers("/v1/apps/coins/cases"), at: "api") { _ in
            bodies().map { HostileRequest.post($0.body, to: "/v1/apps/coins/\($0.target)", token: "prs_greedy") }
        }
    }

    private static let callersTexts = [
        posting("marks-in-signed-data", "a caller has signed data of 860 KB verified, whose `alg` is combining marks") {
            // Base64 turns three bytes into four.
            let marks = HostileRequest.quoted(HostileRequest.marks(645 << 10))
            let header = Array(#"{"x5c":["AA","AA","AA"],"alg":"#.utf8) + marks + Array("}".utf8)
            let signed = Base64URL.encodeBytes(header) + Array(".e30.AAAA".utf8)
            let item = Array(#"{"kind":"transaction","signed":"#.utf8) + HostileRequest.quoted(signed) + Array("}".utf8)
            return [
                (
                    "signedData:verify",
                    HostileRequest.object(Array("signedData".utf8), Array("[".utf8) + item + Array("]".utf8))
                )
            ]
        },
        posting(
            "marks-in-bodies", "a caller sends bodies with 128 and 256 KB of combining marks as member name or value"
        ) {
            [128, 256].map { HostileRequest.marks($0 << 10) }.flatMap { marks in
                let status =
                    Array(
                        #"{"transactionId":"1","customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"#
                            .utf8)
                    + HostileRequest.quoted(marks) + Array("}".utf8)
                let metadata =
                    Array(#"{"receipt":"AA==","metadata":"#.utf8) + HostileRequest.object(marks, [0x31])
                    + Array("}".utf8)
                return [
                    ("users/bob/consumption", HostileRequest.object(marks, [0x31])), ("users/bob/consumption", status),
                    ("receipts", metadata),
                ]
            }
        },
        FloodAttack(
            name: "marks-in-calls", what: "a caller makes gRPC calls with 60 KB of combining marks as `app`",
            settings: atPorts,
            honest: .calls, bounds: bounds
        ) { stage in
            // Fits into the initial flow-control window.
            let message = HTTP2Frames.message(HTTP2Frames.firstField(HostileRequest.marks(60_000)))
            let call = HTTP2Frames.call("CasesService/ListCases", token: "prs_greedy") + message
            let flood = FrameFlood(turns: 1) { _ in call }
            return [Attacker { [port = stage.port(of: "grpc")] in flood.run(on: port, $0) }]
        },
    ]
}

extension SignedContent {
    /// Bodies for the webhook with unsigned tokens: one with marks as `alg`, and two with a genuine header and marks in the payload.
    fileprivate func withMarks(_ count: Int) throws -> [[UInt8]] {
        let marks = HostileRequest.quoted(HostileRequest.marks(count))
        let chain = try purchase().signed.split(separator: ".")[0]
        let (environment, bundleID) = (Array(#""Sandbox""#.utf8), Array(#""com.example.coins""#.utf8))
        func payload(_ environment: [UInt8], _ bundleID: [UInt8]) -> [UInt8] {
            Array(#"{"notificationType":"TEST","version":"2.0","data":{"environment":"#.utf8) + environment
                + Array(#","bundleId":"#.utf8) + bundleID + Array("}}".utf8)
        }
        let algorithm = Base64URL.encodeBytes(HostileRequest.object(Array("alg".utf8), marks)) + Array(".e30.AAAA".utf8)
        let payloads = [payload(marks, bundleID), payload(environment, marks)].map {
            Array("\(chain).".utf8) + Base64URL.encodeBytes($0) + Array(".\(String(repeating: "A", count: 86))".utf8)
        }
        return ([algorithm] + payloads).map {
            HostileRequest.object(Array("signedPayload".utf8), HostileRequest.quoted($0))
        }
    }
}
