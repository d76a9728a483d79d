import CoreMetrics
import Domain
import Foundation
import HTTPTypes
import Logging
import NIOCore
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import HTTPAPI

/// Requests of strangers, who may send any number of any kind: they cost little and leave nothing behind.
struct StrangersTests {
    @Test func `whatever strangers ask for, no metric, table or log grows with it, and no body is looked at`()
        async throws
    {
        let log = RecordedLog()
        let metrics = SeriesCount()
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let fixture = RequestHandlerFixture(stack, scopes: [], metrics: metrics, logger: log.logger)
        // Neither JSON nor of a size that would be taken.
        let body = String(repeating: "x", count: Routes.maximumNotificationBytes + 1)
        let kinds: [(@Sendable (Int) -> (HTTPRequest.Method, String), Int)] = [
            ({ (.post, "/webhooks/apple/app-\($0)") }, 404), ({ (.post, "/webhooks/apple/coins/\($0)") }, 404),
            ({ (.get, "/\($0)?page=\($0)") }, 404),
            ({ (HTTPRequest.Method("M\($0)") ?? .trace, "/webhooks/apple/coins") }, 405),
        ]
        var series: [Int] = []
        for (number, kind) in (0..<3).flatMap({ round in kinds.indices.map { (round * 200, $0) } }) {
            let (request, status) = kinds[kind]
            for number in number..<number + 200 {
                let (method, path) = request(number)
                let reply = try await fixture.send(
                    method, path, body: number.isMultiple(of: 100) ? body : "x", token: nil,
                    headers: [.contentType: "text/plain"], peer: "192.0.2.1", to: \.webhook)
                #expect(reply.status == status, "\(method) \(path)")
            }
            series.append(metrics.count)
        }
        // What the first round has met is all there is.
        #expect(series.suffix(9).allSatisfy { $0 == series[3] }, "\(series)")
        #expect(log.lines("Request answered").count == 3 * AccessLog.linesPerMinute)
        #expect(stack.verifier.requesters.isEmpty)
        #expect(try await stack.store.events(after: 0, limit: 10).isEmpty)
        #expect(try await stack.store.quarantineStatus().count == 0)
    }

    @Test func `what is refused whatever its body is, is refused by its head as it would be with its body`()
        async throws
    {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps)
        let fixture = RequestHandlerFixture(stack, scopes: [])
        let kinds: [(HTTPRequest.Method, String, Int)] = [
            (.post, "/webhooks/apple/other", 404), (.post, "/webhooks/apple/other?a=b", 404), (.get, "/nothing", 404),
            (.head, "/nothing", 404), (.put, "/webhooks/apple/coins", 405), (.post, "/webhooks/apple/%ff", 400),
        ]
        func head(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
            HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        }
        for (method, path, status) in kinds {
            let early = try #require(fixture.webhook.refusal(of: head(method, path)), "\(method) \(path)")
            #expect(early.head.status.code == status)
            let reply = try await fixture.send(method, path, token: nil, peer: "192.0.2.1", to: \.webhook)
            #expect(reply.status == status)
            if method != .head { #expect(Array(early.body.readableBytesView) == reply.body) }
            var headers = reply.headers
            headers[.contentLength] = nil
            #expect(early.head.headerFields == headers, "\(method) \(path)")
        }
        #expect(fixture.webhook.refusal(of: head(.post, "/webhooks/apple/coins")) == nil)
        // Who asks comes first.
        #expect(fixture.handler.refusal(of: head(.post, "/nothing")) == nil)
        #expect(fixture.admin.refusal(of: head(.post, "/nothing")) == nil)
    }

    @Test
    func `a line tells of those of its reason that had none, and those who answer for their requests have one each`() {
        let log = RecordedLog()
        let time = Mutex(ContinuousClock.now)
        let accessLog = AccessLog(logger: log.logger) { time.withLock(\.self) }
        func write(_ error: ServiceError?, caller: String? = nil, actor: Actor = .unauthenticated, count: Int) {
            var record = AccessRecord(listener: "webhook", method: .post, requestID: "r")
            record.failure = error
            (record.caller, record.actor) = (caller, actor)
            for _ in 0..<count { accessLog.write(record) }
        }
        func taken() -> [RecordedLog.Line] { log.lines.filter { $0.metadata["unlogged_before"] != nil } }
        let most = AccessLog.linesPerMinute
        let unknown = ServiceError(.appNotFound, "no")
        write(unknown, count: most + 1_000)
        #expect(log.lines.count == most)
        // Other reasons, requests that succeed, faults of ours, callers and operators.
        write(ServiceError(.signatureInvalid, "no"), count: 1)
        write(nil, count: 2 * most)
        write(ServiceError(.storeUnavailable, "no"), count: 1)
        write(ServiceError(.internalError, "no"), count: 2 * most)
        write(unknown, caller: "shop", actor: .caller("shop"), count: 2 * most)
        write(unknown, actor: .operator(uid: 0), count: 2 * most)
        #expect(log.lines.count == most + 2 + 8 * most)
        #expect(taken().isEmpty)
        time.withLock { $0 += .seconds(60) }
        write(unknown, count: 2)
        #expect(taken().map { $0.metadata["unlogged_before"] } == ["1000"])
        #expect(log.lines.last?.metadata["unlogged_before"] == nil)
    }
}

/// Counts the series that are made.
private final class SeriesCount: MetricsFactory {
    private let made = Atomic(0)

    var count: Int { made.load(ordering: .relaxed) }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        made.add(1, ordering: .relaxed)
        return NOOPMetricsHandler.instance
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        made.add(1, ordering: .relaxed)
        return NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        made.add(1, ordering: .relaxed)
        return NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
