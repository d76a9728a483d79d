import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// What a device has in hand, and what becomes of it.
extension DaemonFixture {
    static let receipts = "\(app)/receipts"

    /// The receipt of the app on an account's device, in Base64.
    func receipt(
        of account: String, _ form: ReceiptForm = ReceiptForm(), _ change: (inout IssuedReceipt) -> Void = { _ in }
    ) throws -> String {
        var receipt = try simulator.state.appReceipt(of: account, in: Self.bundleID)
        change(&receipt)
        return Data(try simulator.receipts.appReceipt(receipt, form)).base64EncodedString()
    }

    /// The receipt of an account's first purchase in the older style, in Base64.
    func transactionReceipt(of account: String) throws -> String {
        let receipt = try simulator.state.appReceipt(of: account, in: Self.bundleID)
        let purchase = try #require(receipt.purchases.first)
        return Data(simulator.receipts.transactionReceipt(of: purchase, in: receipt)).base64EncodedString()
    }

    /// Uploads a receipt, with more fields.
    func upload(_ receipt: String, _ more: JSONObject = [:], to path: String = Self.receipts) async throws -> Reply {
        var body = more
        body["receipt"] = .string(receipt)
        return try await send("POST", path, body: JSONValue.object(body).serializedString())
    }

    /// A receipt as it is now.
    func receipt(_ id: String) async throws -> JSONValue {
        try await send("GET", "\(Self.receipts)/\(id)").json
    }

    /// Waits for an event about a receipt.
    @discardableResult
    func receiptEvent(_ type: String, about id: String) async throws -> JSONValue {
        var cursor = "0"
        return try await Wait.value("the event \(type) about receipt \(id)") {
            let page = try await send("GET", "\(Self.app)/events?after=\(cursor)&wait=20").json
            cursor = try #require(page["cursor"]?.string)
            return page["events"]?.array?.first {
                $0["type"]?.string == "purser.\(type)" && $0["data"]?["receiptId"]?.string == id
            }
        }
    }

    /// Runs with a simulator and a daemon by the same time, again and again on the same store.
    static func withTime(_ body: (MovableTime, _ run: Run) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = MovableTime()
        let simulator = try await Simulator.start(SimulatorConfiguration(now: time.now))
        do {
            try await body(time) { story in
                try await run(Options(now: time.now), folder, simulator, story)
            }
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    typealias Run = (_ story: @Sendable (DaemonFixture) async throws -> Void) async throws -> Void
}
