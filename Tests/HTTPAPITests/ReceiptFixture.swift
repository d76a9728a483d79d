import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Uploads of receipts that a fake reader knows by their text, to a real store and an in-memory App Store.
struct ReceiptFixture {
    static let dropIn = "/client/itunes_connect/receipts"
    static let path = "/v1/apps/coins/receipts"

    let handlers: RequestHandlerFixture

    var reader: FakeReceiptReader { handlers.stack.receiptReader }
    var gateway: FakeAppStoreGateway { handlers.gateway }

    init(
        accounts: [[Transaction]] = [[.sample(id: "1", account: "A"), .sample(id: "2", account: "A")]],
        scopes: Set<Scope> = Set(Scope.allCases), trustedProxies: [String] = []
    ) async throws {
        let stack = try await ServiceStack(apps: RequestHandlerFixture.apps, accounts: accounts)
        handlers = RequestHandlerFixture(
            stack, scopes: scopes, maximumBodyBytes: 16 << 20,
            trustedProxies: TrustedProxies(try trustedProxies.map { try #require(TrustedProxies.Network($0)) }))
        know("good", ids: ["1", "2"])
    }

    /// Lets a text be a receipt with these transactions.
    func know(
        _ text: String, style: ReceiptContent.Style = .unified, bundleID: String = "com.example.coins",
        environment: String? = "Production", device: ReceiptContent.DeviceCheck = .unchecked, ids: [String]
    ) {
        let purchases = ids.map {
            ReceiptContent.Purchase(
                transactionID: $0, originalTransactionID: $0, productID: "gems", quantity: 1,
                purchaseDate: Date(timeIntervalSince1970: 1000))
        }
        reader.know(
            text,
            as: .success(
                ReceiptContent(
                    style: style, isVerified: style == .unified, bundleID: bundleID, environmentName: environment,
                    createdAt: Date(timeIntervalSince1970: 2000), deviceCheck: device, purchases: purchases)))
    }

    /// A request body with a receipt and other fields.
    func body(_ receipt: String, _ rest: String = "") -> String {
        #"{"receipt":"\#(Data(receipt.utf8).base64EncodedString())"\#(rest.isEmpty ? "" : ",")\#(rest)}"#
    }

    func upload(
        _ receipt: String, _ rest: String = "", to target: String = Self.dropIn, headers: HTTPFields = [:],
        peer: String? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        try await handlers.send(.post, target, body: body(receipt, rest), headers: headers, peer: peer)
    }

    /// What a 422 says, by field.
    func errors(_ reply: RequestHandlerFixture.Reply) throws -> [String: [String]] {
        #expect(reply.status == 422)
        let json = try reply.json
        #expect(json.object?.keys.map(\.self) == ["errors"])
        var errors: [String: [String]] = [:]
        for member in json["errors"]?.object?.members ?? [] {
            errors[member.key] = member.value.array?.compactMap(\.string)
        }
        return errors
    }
}
