import AppStoreSimulator
import Foundation
import Synchronization

/// Something that strangers, or one of many, can do, and who suffers from it if anybody does.
struct FloodAttack: Sendable, CustomStringConvertible {
    let name: String
    /// In a few words.
    let what: String
    var settings = DaemonStage.Settings()
    var honest = Honest.apple
    /// The limits that it must not exceed for `make flood` to succeed; nil for an attack that is only measured.
    var bounds: FloodBounds?
    /// Starts the attackers, who go on until they are stopped.
    let start: @Sendable (DaemonStage) throws -> [Attacker]

    /// Who uses the service as it should be used meanwhile.
    enum Honest {
        /// Three who post new notifications, each on a new connection.
        case apple
        /// Nine callers who read.
        case callers(String)
        /// One who posts a CONSUMPTION_REQUEST of an app's and waits for its case.
        case consumption(String)
        /// Three probes that read `/livez`, each on a new connection.
        case probes
        /// Three callers that make gRPC calls, each on a new connection.
        case calls
    }

    var description: String { name }

    static let all: [FloodAttack] = connections + requests + notifications + callers + texts + frames

    // MARK: Connections

    private static let halfPost =
        Array(
            "POST /webhooks/apple/coins HTTP/1.1\r\nHost: a\r\nContent-Length: 4000\r\n\r\n{\"signedPayload\":\"".utf8)
    private static let unknownRoute = Array("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    /// Lets one attacker hold connections to the webhook.
    private static func holding(
        _ name: String, _ what: String, _ settings: DaemonStage.Settings = DaemonStage.Settings(),
        _ held: HeldConnections
    ) -> FloodAttack {
        FloodAttack(name: name, what: what, settings: settings) { stage in
            [Attacker { [port = stage.webhookPort] in held.run(on: port, $0) }]
        }
    }

    static let connections = [
        holding(
            "half-posts", "512 posts of which half is sent", .init(), HeldConnections(count: 512, bytes: halfPost)),
        holding(
            "half-posts-slowly", "256 such posts, and 17 more a second", .init(),
            HeldConnections(count: 256, burst: 256, perSecond: 17, bytes: halfPost)),
        holding(
            "half-posts-from-everywhere", "1,024 such posts from 64 addresses", .init(),
            HeldConnections(count: 1024, bytes: halfPost, sources: (2..<66).map { "127.0.0.\($0)" })),
        holding("silent", "1,024 connections that say nothing", .init(), HeldConnections(count: 1024)),
        holding(
            "idle", "10,000 connections that stay after their first request", .init(),
            HeldConnections(count: 10_000, bytes: unknownRoute)),
        holding(
            "half-handshakes", "1,024 TLS handshakes of which a part is sent", tls,
            HeldConnections(count: 1024, bytes: [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])),
        holding(
            "slow-readers", "256 connections of 2,000 requests each whose answers nobody reads", .init(),
            HeldConnections(
                count: 256, bytes: Array([[UInt8]](repeating: unknownRoute, count: 2000).joined()), reads: false)
        ),
        holding(
            "half-headers", "512 requests with 31 KB of a header that does not end", .init(),
            HeldConnections(
                count: 512,
                bytes: Array(
                    "GET /nothing HTTP/1.1\r\nHost: a\r\nX-Long: \(String(repeating: "x", count: 31_000))".utf8))),
    ]

    private static var tls: DaemonStage.Settings {
        var settings = DaemonStage.Settings()
        settings.webhookIsTLS = true
        return settings
    }

    // MARK: Requests

    private static func post(_ body: [UInt8], to app: String = "coins") -> [UInt8] {
        Array(
            "POST /webhooks/apple/\(app) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
                .utf8) + body
    }

    /// Lets one attacker send requests to the webhook.
    private static func flooding(
        _ name: String, _ what: String,
        _ flood: @escaping @Sendable (DaemonStage) throws -> RequestFlood
    ) -> FloodAttack {
        FloodAttack(name: name, what: what) { stage in
            let (flood, port) = (try flood(stage), stage.webhookPort)
            return [Attacker { flood.run(on: port, $0) }]
        }
    }

    static let requests = [
        flooding("long-headers", "requests with 40 KB of header") { _ in
            let request = Array(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Long: \(String(repeating: "x", count: 40_000))\r\n\r\n".utf8)
            return RequestFlood { _ in request }
        },
        flooding("pipelining", "100 requests ahead on each of 16 connections") { _ in
            RequestFlood(connections: 16, ahead: 100) { _ in unknownRoute }
        },
        flooding("unknown-apps", "up to 100,000 posts for apps that are not there") { _ in
            RequestFlood(limit: 100_000) { post(Array(#"{"signedPayload":"a.b.c"}"#.utf8), to: "app-\($0)") }
        },
    ]

    // MARK: Notifications

    static let notifications = [
        flooding("forged-headers", "Apple's public chain in a header of its own each, signed by nobody") { stage in
            let forged = try SignedContent(stage: stage).forged()
            return RequestFlood { post(forged($0)) }
        },
        flooding("misplaced-purchase", "a genuine purchase where a notification belongs") { stage in
            let request = post(try SignedContent(stage: stage).misplacedPurchase())
            return RequestFlood { _ in request }
        },
        flooding("replays", "one genuine notification again and again") { stage in
            let request = post(try SignedContent(stage: stage).test())
            return RequestFlood { _ in request }
        },
        FloodAttack(
            name: "greedy-tenant", what: "genuine notifications of another app, as many as can be", settings: tenants,
            honest: .consumption("coins")
        ) { stage in
            let content = SignedContent(stage: stage)
            // From where Apple posts: no source tells the two apart.
            let flood = RequestFlood(source: "127.0.0.1") { _ in
                post((try? content.test(of: "gems")) ?? [], to: "gems")
            }
            return [Attacker { [port = stage.webhookPort] in flood.run(on: port, $0) }]
        },
    ]

    private static var tenants: DaemonStage.Settings {
        var settings = DaemonStage.Settings()
        settings.otherApps = ["gems"]
        settings.apiHasPort = true
        return settings
    }

    // MARK: Callers

    /// Nine callers and a greedy one.
    private static var crowd: DaemonStage.Settings {
        var settings = DaemonStage.Settings()
        settings.apiHasPort = true
        settings.scopes = ["transactions:read"]
        settings.callers = ["greedy": "prs_greedy"]
        for number in 1...9 { settings.callers["caller\(number)"] = "prs_caller\(number)" }
        // Its share of Apple's rate is another matter.
        settings.requestsPerSecond = ["Get Transaction Info": 10_000]
        return settings
    }

    /// Lets the greedy one ask for something on many connections.
    private static func greedy(_ target: String) -> @Sendable (DaemonStage) throws -> [Attacker] {
        let request = Array(
            "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer prs_greedy\r\n\r\n".utf8)
        return { stage in
            [Attacker { [port = stage.apiPort] in RequestFlood(connections: 600) { _ in request }.run(on: port, $0) }]
        }
    }

    static let callers = [
        FloodAttack(
            name: "greedy-caller", what: "one of ten callers reads on 600 connections", settings: crowd,
            honest: .callers("/v1/apps/coins/cases"), start: greedy("/v1/apps/coins/cases")),
        FloodAttack(
            name: "greedy-caller-waiting", what: "the same, and Apple takes half a second for each answer",
            settings: crowd, honest: .callers("/v1/apps/coins/cases")
        ) { stage in
            stage.simulator.state.inject(Fault(.latency(milliseconds: 500)))
            let content = SignedContent(stage: stage)
            let purchases = try (0..<2000).map { _ in try content.purchase().id }
            let flood = RequestFlood(connections: 600) { number in
                Array(
                    """
                    GET /v1/apps/coins/transactions/\(purchases[number % purchases.count])?environment=Sandbox HTTP/1.1\r\n\
                    Host: a\r\nAuthorization: Bearer prs_greedy\r\n\r\n
                    """.utf8)
            }
            return [Attacker { [port = stage.apiPort] in flood.run(on: port, $0) }]
        },
    ]
}
