import Foundation

/// Attacks with HTTP/2 frames on the listener `grpc`, without a credential.
extension FloodAttack {
    static let frames = [
        attack(
            "unfinished-calls", "connections that begin a call and break the protocol in one send",
            HeldConnections(
                count: 32, bytes: HTTP2Frames.opening + HTTP2Frames.call() + HTTP2Frames.strayData)),
        attack(
            "many-unfinished-calls", "the same with 50 calls each",
            HeldConnections(
                count: 32,
                bytes: HTTP2Frames.opening + HTTP2Frames.calls(50) + HTTP2Frames.strayData)),
        attack(
            "empty-data", "eight connections with a call each and empty DATA frames without end",
            FrameFlood { turn in
                let empty = HTTP2Frames.repeated(HTTP2Frames.frame(.data, stream: 1), 1000)
                return turn == 0 ? HTTP2Frames.call() + empty : empty
            }),
        attack(
            "rapid-reset", "calls that are reset as soon as they begin",
            FrameFlood { HTTP2Frames.calls(100, after: 100 * $0, areReset: true) }),
        attack(
            "continuations", "CONTINUATION frames of 16 KB without end",
            FrameFlood { turn in
                let field: [UInt8] = [0, 1, UInt8(ascii: "x"), 0]
                let more = HTTP2Frames.frame(.continuation, stream: 1, HTTP2Frames.repeated(field, 4000))
                let start = HTTP2Frames.frame(.headers, stream: 1, HTTP2Frames.fields("AppsService/ListApps"))
                return turn == 0 ? start + more : more
            }),
        attack(
            "settings", "SETTINGS frames without end, whose acknowledgements are not read",
            FrameFlood(reads: false) { _ in
                HTTP2Frames.repeated(HTTP2Frames.frame(.settings), 1000)
            }),
    ]

    /// An attack that must not exceed limits of memory.
    private static func attack(_ name: String, _ what: String, _ held: HeldConnections) -> FloodAttack {
        attack(name, what) { held.run(on: $0, $1) }
    }

    private static func attack(_ name: String, _ what: String, _ flood: FrameFlood) -> FloodAttack {
        attack(name, what) { flood.run(on: $0, $1) }
    }

    private static func attack(
        _ name: String, _ what: String, _ run: @escaping @Sendable (Int, Attacker) -> Void
    ) -> FloodAttack {
        var settings = DaemonStage.Settings()
        settings.ports = ["grpc"]
        for number in 1...3 { settings.callers["caller\(number)"] = "prs_caller\(number)" }
        return FloodAttack(
            name: name, what: what, settings: settings, honest: .calls,
            bounds: FloodBounds(peakKilobytes: 128 << 10, growthKilobytes: 16 << 10)
        ) { stage in
            [Attacker { [port = stage.port(of: "grpc")] in run(port, $0) }]
        }
    }
}
