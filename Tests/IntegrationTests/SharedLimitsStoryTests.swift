import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// What three daemons on one database of PostgreSQL's have in common, as processes of their own.
@Suite(.needsPostgres)
struct SharedLimitsStoryTests {
    private static let app = "/v1/apps/coins"
    /// Of one call a second in the Sandbox.
    private static let limit = 3600 * PublishedRateLimits.sandboxPercent / 100

    private static func with(
        _ body: @escaping @Sendable (_ stages: [DaemonStage]) async throws -> Void
    ) async throws {
        var settings = DaemonStage.Settings()
        settings.database = try await PostgresServer.running().makeNamedDatabase()
        settings.scopes = ["transactions:read", "refunds:read"]
        settings.requestsPerSecond = [Endpoint.Operation.getTransactionInfo.name: 1]
        try await DaemonStage.with(settings) { stage in
            let stages = [stage, try stage.onAnotherHost(named: "b"), try stage.onAnotherHost(named: "c")]
            var processes: [DaemonProcess] = []
            for stage in stages { processes.append(try await stage.start()) }
            try await body(stages)
            for process in processes { #expect(try await process.terminate() == 0) }
        }
    }

    @Test func `copies together call Apple no more often than one may`() async throws {
        try await Self.with { stages in
            let statuses = await withTaskGroup(of: [Int?].self) { group in
                for (index, stage) in stages.enumerated() {
                    group.addTask {
                        var statuses: [Int?] = []
                        for number in 0..<200 {
                            let id = 7_000_000_000_000_000 + index * 1000 + number
                            statuses.append(
                                await stage.api().send(
                                    "GET", "\(Self.app)/transactions/\(id)?environment=Sandbox")?.status)
                        }
                        return statuses
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let counts = stages[0].simulator.state.received.counts.filter { subject, _ in
                subject.environment == .sandbox && subject.operation == .getTransactionInfo
            }
            let received = counts.values.reduce(0, +)
            #expect(received <= Self.limit)
            #expect(counts.keys.allSatisfy { $0.status == 404 }, "\(counts)")
            // Apple does not know them: that is an answer of its own.
            let answered = statuses.filter { $0 == 404 }.count
            #expect(answered > Self.limit / 3 && answered <= received, "\(answered) of \(received)")
            #expect(answered + statuses.filter { $0 == 429 }.count == statuses.count, "\(statuses)")
        }
    }

    @Test func `a list goes on at whichever copy is asked`() async throws {
        try await Self.with { stages in
            let account = try stages[0].simulator.state.createAccount(in: .production).id
            let ids = try (0..<3).map { _ in try stages[0].sellGems(to: account) }
            let link = await stages[0].api().send("PUT", "\(Self.app)/users/alice/links/transactionId/\(ids[0])")
            #expect(link?.status == 200 || link?.status == 201)
            for id in ids.dropFirst() {
                _ = await stages[1].api().send("PUT", "\(Self.app)/users/alice/links/transactionId/\(id)")
            }
            var seen: [String] = []
            var token: String?
            for stage in stages {
                let page = await stage.api().send(
                    "GET", "\(Self.app)/users/alice/transactions?pageSize=1" + (token.map { "&pageToken=\($0)" } ?? ""))
                #expect(page?.status == 200, "\(String(decoding: page?.body ?? [], as: UTF8.self))")
                let entries = page?.json?["transactions"]?.array ?? []
                seen += entries.compactMap { ($0["transaction"] ?? $0)["transactionId"]?.string }
                token = page?.json?["nextPageToken"]?.string
            }
            #expect(Set(seen) == Set(ids) && seen.count == ids.count && token == nil, "\(seen) of \(ids)")
        }
    }
}
