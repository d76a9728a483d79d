import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import HummingbirdCore
import JSON
import Logging
import NIOCore
import NIOEmbedded
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Receipts that are imported over the admin listener; nothing works in the background, so that Apple is asked by nobody.
final class ReceiptImportRoutesTests: Sendable {
    private let folder: URL
    private let store: SQLiteStore
    private let reader = FakeReceiptReader()
    private let services: Services
    private let handler: RequestHandler

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "receipts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try await SQLiteStore.open(at: folder.appending(path: "purser.db").path)
        let now: WallClock = { ServiceStack.now }
        let ports = Services.Ports.test(
            store: store, changes: store.changes, appStore: FakeAppStoreGateway(accounts: []), receiptReader: reader,
            clock: ServiceClock(now: now))
        services = Services(ports: ports, settings: Services.Settings(apps: RequestHandlerFixture.apps))
        handler = RequestHandler(
            RequestHandler.Options(name: "admin", maximumBodyBytes: 4096, deadline: Wait.limit, isForOperators: true),
            routes: Routes.admin(services, health: NoHealth(), reloader: NoReloader()), authenticator: nil,
            metrics: NOOPMetricsHandler.instance, now: now, makeRequestID: { "made-here" },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func send(_ body: String) async throws -> (status: Int, json: JSONValue) {
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "localhost", path: "/v1/apps/coins/receipts:import",
            headerFields: [.contentType: "application/json"])
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let response = await handler.respond(
            to: request, from: EmbeddedChannel(), provenBy: PeerIdentity(unixPeer: .init(uid: 1000, gid: 1000)))
        let collector = BodyCollector()
        try await response.body.write(collector)
        return (response.status.code, try JSONValue(parsing: collector.bytes))
    }

    /// A good receipt, one that somebody altered, and what is none, in Base64.
    private func receipts() -> [String] {
        let content = ReceiptContent(
            style: .unified, isVerified: true, bundleID: "com.example.coins", environmentName: "Production",
            createdAt: ServiceStack.now, purchases: [ReceiptContent.Purchase(transactionID: "1")])
        return [
            reader.know("good", as: .success(content)),
            reader.know("altered", as: .failure(.signature(.contentAltered))), Array("nothing".utf8),
        ].map { Data($0).base64EncodedString() }
    }

    @Test func `receipts are verified and kept, and Apple is asked later`() async throws {
        let receipts = receipts()
        let good = #"{"receipt":"\#(receipts[0])","user_identifier":"alice","metadata":{"a": 1}}"#
        let body = #"[\#(good),{"receipt":"\#(receipts[1])"},{"receipt":"\#(receipts[2])"},{"user_identifier":""},7]"#
        for _ in 0..<2 {
            let reply = try await send(#"{"receipts":\#(body)}"#)
            #expect(reply.status == 200)
            let results = try #require(reply.json["results"]?.array)
            #expect(results.map { $0["outcome"]?.string } == ["queued", "refused", "refused", "refused", "refused"])
            #expect(results[1]["problem"]?["violations"]?[0]?["rule"]?.string == "CONTENT_ALTERED")
            #expect(results[3]["problem"]?["violations"]?.array?.count == 2)
        }
        let app = try RequestHandlerFixture.apps.app("coins")
        let kept = try await services.purchases.receipts.receipts(app: app, ReceiptQuery())
        #expect(kept.map(\.receipt.attempts) == [0], "the same again is the same")
        #expect(kept.first?.receipt.nextAttemptAt != nil)
        #expect(kept.first?.receipt.user?.value == "alice")
        await store.close()
    }

    @Test func `a dry run keeps nothing`() async throws {
        let receipts = receipts().map { #"{"receipt":"\#($0)"}"# }.joined(separator: ",")
        let reply = try await send(#"{"dryRun":true,"receipts":[\#(receipts)]}"#)
        let results = try #require(reply.json["results"]?.array)
        #expect(results.map { $0["outcome"]?.string } == ["valid", "refused", "refused"])
        let app = try RequestHandlerFixture.apps.app("coins")
        #expect(try await services.purchases.receipts.receipts(app: app, ReceiptQuery()).isEmpty)
        await store.close()
    }

    @Test(arguments: ["{}", #"{"receipts":[]}"#, #"{"receipts":"a"}"#, #"{"receipts":[1],"links":[]}"#])
    func `what is no batch is refused whole`(body: String) async throws {
        let reply = try await send(body)
        #expect(reply.status == 400)
        await store.close()
    }
}
