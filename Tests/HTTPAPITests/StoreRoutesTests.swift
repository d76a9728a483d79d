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
import Synchronization
import TestSupport
import Testing

/// The store as a whole on the admin listener: a real store, copied, examined and released.
struct StoreRoutesTests {
    /// The admin listener over a store in a folder.
    private final class Admin: Sendable {
        let folder: URL
        let handler: RequestHandler
        private let store: SQLiteStore

        init(store name: String = "purser.db", in folder: URL) async throws {
            self.folder = folder
            store = try await SQLiteStore.open(at: folder.appending(path: name).path)
            let apps = AppCatalog([])
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let now: WallClock = { Date(timeIntervalSince1970: 1_700_000_000) }
            let ports = Services.Ports.test(
                store: store, changes: store.changes, appStore: FakeAppStoreGateway(accounts: []),
                clock: ServiceClock(now: now))
            let services = Services(ports: ports, settings: Services.Settings(apps: apps))
            handler = RequestHandler(
                RequestHandler.Options(
                    name: "admin", maximumBodyBytes: 4096, deadline: Wait.limit, isForOperators: true),
                routes: Routes.admin(services, health: NoHealth(), reloader: NoReloader()),
                authenticator: nil, metrics: NOOPMetricsHandler.instance, now: now, makeRequestID: { "made-here" },
                logger: logger)
        }

        func post(_ target: String, _ body: String? = nil) async throws -> (status: Int, json: JSONValue) {
            let head = HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: target,
                headerFields: body == nil ? [:] : [.contentType: "application/json"])
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
            let response = await handler.respond(
                to: request, from: EmbeddedChannel(), provenBy: PeerIdentity(unixPeer: .init(uid: 1000, gid: 1000)))
            let collector = BodyCollector()
            try await response.body.write(collector)
            return (response.status.code, try JSONValue(parsing: collector.bytes))
        }

        func close() async { await store.close() }
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "store-routes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `a copy is made once, and whoever opens it finds sending held until it is released`() async throws {
        try await withFolder { folder in
            let admin = try await Admin(in: folder)
            let copy = folder.appending(path: "copy.db").path
            let made = try await admin.post("/v1/store:backup", #"{"path":"\#(copy)"}"#)
            #expect(made.status == 201)
            #expect(made.json["path"] == .string(copy))
            #expect(made.json["at"] == .string("2023-11-14T22:13:20.000Z"))
            let again = try await admin.post("/v1/store:backup", #"{"path":"\#(copy)"}"#)
            #expect(again.status == 503)
            await admin.close()

            let restored = try await Admin(store: "copy.db", in: folder)
            let released = try await restored.post("/v1/deliveries:release")
            #expect(released.status == 200)
            #expect(released.json["hold"]?["since"] != nil)
            #expect(released.json["waiting"]?.int64 == 0)
            let nothing = try await restored.post("/v1/deliveries:release")
            #expect(nothing.json["hold"] == .null)
            await restored.close()
        }
    }

    @Test(arguments: [#"{}"#, #"{"path":"copy.db"}"#, #"{"path":"/tmp/"}"#, #"{"path":1}"#, #"{"path":"/a","to":"b"}"#])
    func `a copy needs an absolute path and nothing else`(body: String) async throws {
        try await withFolder { folder in
            let admin = try await Admin(in: folder)
            let answer = try await admin.post("/v1/store:backup", body)
            #expect(answer.status == 400)
            await admin.close()
        }
    }

    @Test func `a sound store has no problems`() async throws {
        try await withFolder { folder in
            let admin = try await Admin(in: folder)
            let answer = try await admin.post("/v1/store:check")
            #expect(answer.status == 200)
            #expect(answer.json["problems"] == .array([]))
            await admin.close()
        }
    }
}
