import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// What customers do, and how a service follows it.
extension DaemonFixture {
    static let app = "/v1/apps/coins"

    /// Apple's required fields, and others.
    static func consumption(_ more: (String, JSONValue)...) -> String {
        var body: JSONObject = [
            "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
        ]
        for (name, value) in more { body[name] = value }
        return JSONValue.object(body).serializedString()
    }

    /// A user of ours, whose id is also the token of its purchases, and a purchase of an account of its own, linked to it.
    func customer(
        in environment: SimulatedEnvironment = .production
    ) async throws -> (user: String, account: String, transaction: String) {
        let user = UUID().uuidString.lowercased()
        let account = try simulator.state.createAccount(in: environment).id
        let transaction = try #require(try buy(account, token: user).transactionId)
        _ = try await send("PUT", "\(Self.app)/users/\(user)/links/transactionId/\(transaction)")
        return (user, account, transaction)
    }

    /// A time from now, as it goes over the wire.
    static func time(inSeconds seconds: TimeInterval) -> JSONValue {
        .string(
            Date(timeIntervalSinceNow: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// Lets the customer ask for a refund, and waits for the case.
    func requestRefund(
        of transaction: String, reason: ConsumptionRequestReason = .unintendedPurchase
    ) async throws -> JSONValue {
        try simulator.state.requestRefund(of: transaction, reason: reason)
        try await event("case.opened", about: transaction)
        return try await refundCase(of: transaction)
    }

    /// The latest case of a transaction, with its deliveries.
    func refundCase(of transaction: String) async throws -> JSONValue {
        let list = try await send("GET", "\(Self.app)/cases?transactionId=\(transaction)").json
        let id = try #require(list["cases"]?.array?.last?["id"]?.string)
        return try await send("GET", "\(Self.app)/cases/\(id)").json
    }

    /// Waits for the first event of a type about a transaction that comes after a cursor.
    @discardableResult
    func event(_ type: String, about transaction: String, after start: String = "0") async throws
        -> JSONValue
    {
        var cursor = start
        return try await Wait.value("the event \(type) about \(transaction)") {
            let page = try await send("GET", "\(Self.app)/events?after=\(cursor)&wait=20").json
            cursor = try #require(page["cursor"]?.string)
            return page["events"]?.array?.first {
                $0["type"]?.string == "purser.\(type)"
                    && $0["data"]?["transactionId"]?.string == transaction
            }
        }
    }

    /// The types of all events so far, without what they have in common.
    func eventTypes() async throws -> [String] {
        let page = try await send("GET", "\(Self.app)/events?after=0&limit=1000").json
        return page["events"]?.array?.compactMap { $0["type"]?.string?.replacing("purser.", with: "") }
            ?? []
    }

    /// A delivery as it is now.
    func delivery(_ id: JSONValue?) async throws -> JSONValue {
        try await send("GET", "\(Self.app)/deliveries/\(try #require(id?.string))").json
    }

    /// Waits until the App Store has received something about a transaction, so many times.
    func isReceived(_ transaction: String, times: Int = 1) async throws {
        try await Wait.bounding("\(times) requests about \(transaction)") { [self] in
            await simulator.state.wait(for: .requestReceived) { _ in received(transaction).count >= times }
        }
    }

    /// Waits until an attempt has been made to deliver each of so many notifications.
    func isAttempted(_ count: Int) async throws {
        try await Wait.bounding("attempts to deliver \(count) notifications") { [state = simulator.state] in
            await state.wait(for: .notificationAttempted) { $0.notifications.count { !$0.attempts.isEmpty } >= count }
        }
    }

    /// What the App Store received about a transaction.
    func received(_ transaction: String) -> [ReceivedRequest] {
        simulator.state.received.requests.filter {
            $0.operation == .sendConsumptionInformation && $0.identifier == transaction
        }
    }

    /// Records what a user says about sharing consumption information.
    func consent(_ user: String, _ isConsented: Bool) async throws -> JSONValue {
        let body = #"{"consented":\#(isConsented),"source":"settings"}"#
        let reply = try await send("PUT", "\(Self.app)/users/\(user)/consent", body: body)
        #expect(reply.status == 200)
        return try reply.json
    }
}
