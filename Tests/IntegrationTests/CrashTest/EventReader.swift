import JSON
import TestSupport

/// Follows the events of the app through all kills, and reads them all again at the end.
struct EventReader: Sendable {
    let fleet: CrashFleet
    let stopping: OneTime<Void>

    private static let events = "/v1/apps/coins/events"

    /// Ids of all events, in the order in which they came, until it is time to stop and there are no more.
    func followUntilStopped() async throws -> [String] {
        var ids: [String] = []
        var cursor = "0"
        while true {
            let isLast = stopping.now != nil
            let stage = try await fleet.serving()
            let target = "\(Self.events)?after=\(cursor)&wait=\(isLast ? 0 : 1)"
            guard let reply = await stage.api("support").send("GET", target), !reply.tellsOfStoreAway else {
                continue
            }
            let page = try Self.page(reply)
            ids += page.ids
            cursor = page.cursor
            if isLast, page.ids.isEmpty { return ids }
        }
    }

    /// Ids of all events that there are.
    func all() async throws -> [String] {
        var ids: [String] = []
        var cursor = "0"
        while true {
            guard
                let reply = await (try await fleet.serving()).api("support").send(
                    "GET", "\(Self.events)?after=\(cursor)&wait=0")
            else {
                throw DaemonStage.Failure(description: "no answer")
            }
            let page = try Self.page(reply)
            guard !page.ids.isEmpty else { return ids }
            ids += page.ids
            cursor = page.cursor
        }
    }

    private static func page(_ reply: LocalClient.Reply) throws -> (ids: [String], cursor: String) {
        guard reply.status == 200, let events = reply.json?["events"]?.array,
            let cursor = reply.json?["cursor"]?.string
        else {
            throw DaemonStage.Failure(
                description: "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))")
        }
        return (events.compactMap { $0["id"]?.string }, cursor)
    }
}
