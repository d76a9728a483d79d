import AppStoreAPI
import Foundation
import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing

/// What a running daemon signs, and the rules for it, held against Apple's models.
struct SignatureTests {
    private static let route = "/v1/apps/coins/signatures/"

    /// A request of each kind of the Advanced Commerce API, with every field that Apple has.
    private static let samples: [String: JSONValue] = {
        let requestInfo: JSONValue = [
            "requestReferenceId": "018c0000-0000-7000-8000-00000000000a",
            "appAccountToken": "018c0000-0000-7000-8000-00000000000b", "consistencyToken": "as it came",
        ]
        let offer: JSONValue = ["period": "P2W", "periodCount": 12, "price": 0, "reason": "WIN_BACK"]
        let names: [(String, JSONValue)] = [("description", "What it is"), ("displayName", "What it is called")]
        let item = names + [("SKU", "sku-1"), ("price", 4990)]
        func request(_ operation: String, _ fields: [(String, JSONValue)]) -> JSONValue {
            .object(
                JSONObject(
                    [
                        ("operation", .string(operation)), ("version", "1"), ("requestInfo", requestInfo),
                        ("storefront", "USA"),
                    ] + fields))
        }
        let price: [(String, JSONValue)] = [("currency", "USD"), ("taxCode", "C003-00-2")]
        let added = item + [("offer", offer), ("proratedPrice", 100)]
        let changed = added + [("currentSKU", "sku-0"), ("effective", "NEXT_BILL_CYCLE"), ("reason", "APPLY_OFFER")]
        let skus: JSONValue = [["SKU": "sku-1"]]
        return [
            "OneTimeChargeCreateRequest": request(
                "CREATE_ONE_TIME_CHARGE", price + [("item", .object(JSONObject(item)))]),
            "SubscriptionCreateRequest": request(
                "CREATE_SUBSCRIPTION",
                price + [
                    ("descriptors", .object(JSONObject(names))), ("period", "P1M"), ("previousTransactionId", "1"),
                    ("items", [.object(JSONObject(item + [("offer", offer)]))]),
                ]),
            "SubscriptionModifyInAppRequest": request(
                "MODIFY_SUBSCRIPTION",
                price + [
                    ("transactionId", "1"), ("retainBillingCycle", false),
                    ("descriptors", .object(JSONObject(names + [("effective", "IMMEDIATELY")]))),
                    ("periodChange", ["effective": "IMMEDIATELY", "period": "P1Y"]),
                    ("addItems", [.object(JSONObject(added))]), ("changeItems", [.object(JSONObject(changed))]),
                    ("removeItems", skus),
                ]),
            "SubscriptionReactivateInAppRequest": request(
                "REACTIVATE_SUBSCRIPTION", [("transactionId", "1"), ("items", skus)]),
        ]
    }()

    /// Where Apple's models stand in those requests.
    private static let models: [(request: String, path: [String], fields: [String: Bool])] = [
        ("OneTimeChargeCreateRequest", [], fields(of: AdvancedCommerceOneTimeChargeCreateRequest.self)),
        ("OneTimeChargeCreateRequest", ["item"], fields(of: AdvancedCommerceOneTimeChargeItem.self)),
        ("OneTimeChargeCreateRequest", ["requestInfo"], fields(of: AdvancedCommerceRequestInfo.self)),
        ("SubscriptionCreateRequest", [], fields(of: AdvancedCommerceSubscriptionCreateRequest.self)),
        ("SubscriptionCreateRequest", ["descriptors"], fields(of: AdvancedCommerceDescriptors.self)),
        ("SubscriptionCreateRequest", ["items", "0"], fields(of: AdvancedCommerceSubscriptionCreateItem.self)),
        ("SubscriptionCreateRequest", ["items", "0", "offer"], fields(of: AdvancedCommerceOffer.self)),
        ("SubscriptionModifyInAppRequest", [], fields(of: AdvancedCommerceSubscriptionModifyInAppRequest.self)),
        (
            "SubscriptionModifyInAppRequest", ["descriptors"],
            fields(of: AdvancedCommerceSubscriptionModifyDescriptors.self)
        ),
        (
            "SubscriptionModifyInAppRequest", ["periodChange"],
            fields(of: AdvancedCommerceSubscriptionModifyPeriodChange.self)
        ),
        (
            "SubscriptionModifyInAppRequest", ["addItems", "0"],
            fields(of: AdvancedCommerceSubscriptionModifyAddItem.self)
        ),
        (
            "SubscriptionModifyInAppRequest", ["changeItems", "0"],
            fields(of: AdvancedCommerceSubscriptionModifyChangeItem.self)
        ),
        (
            "SubscriptionModifyInAppRequest", ["removeItems", "0"],
            fields(of: AdvancedCommerceSubscriptionModifyRemoveItem.self)
        ),
        (
            "SubscriptionReactivateInAppRequest", [],
            fields(of: AdvancedCommerceSubscriptionReactivateInAppRequest.self)
        ),
        (
            "SubscriptionReactivateInAppRequest", ["items", "0"],
            fields(of: AdvancedCommerceSubscriptionReactivateItem.self)
        ),
    ]

    /// The values that Apple's enumerations know, with a place of each.
    private static let values: [(request: String, path: [String], values: [String])] = [
        ("SubscriptionCreateRequest", ["period"], known(AdvancedCommercePeriod.self)),
        ("SubscriptionCreateRequest", ["items", "0", "offer", "period"], known(AdvancedCommerceOfferPeriod.self)),
        ("SubscriptionCreateRequest", ["items", "0", "offer", "reason"], known(AdvancedCommerceOfferReason.self)),
        ("SubscriptionModifyInAppRequest", ["periodChange", "effective"], known(AdvancedCommerceEffective.self)),
        ("SubscriptionModifyInAppRequest", ["changeItems", "0", "reason"], known(AdvancedCommerceReason.self)),
    ]

    @Test func `the rules of Advanced Commerce requests know Apple's fields and values, and which are required`()
        async throws
    {
        try await DaemonFixture.with { fixture in
            for (request, path, fields) in Self.models {
                let sample = try #require(Self.samples[request])
                let object = try #require(Self.value(at: path, of: sample)?.object)
                #expect(Set(object.keys) == Set(fields.keys), "\(request) \(path)")
                for (name, isRequired) in fields {
                    let without = Self.replace(path + [name], of: sample, by: nil)
                    let expected = isRequired ? ["\(Self.name(of: path + [name])) required"] : []
                    let found = try await Self.violations(of: without, fixture)
                    #expect(found == expected, "\(request) without \(path) \(name)")
                }
            }
            for (request, path, values) in Self.values {
                let sample = try #require(Self.samples[request])
                for value in values {
                    let changed = Self.replace(path, of: sample, by: .string(value))
                    #expect(try await Self.violations(of: changed, fixture) == [], "\(request) \(path) \(value)")
                }
                let changed = Self.replace(path, of: sample, by: "OTHER")
                #expect(try await Self.violations(of: changed, fixture) == ["\(Self.name(of: path)) enum"])
            }
        }
    }

    @Test func `a daemon signs with its key what was sent, byte for byte`() async throws {
        try await DaemonFixture.with { fixture in
            let file = try Data(contentsOf: fixture.folder.appending(path: "ABCDEFGHIJ.p8"))
            let key = try ECPrivateKey(pkcs8PEM: Array(file)).publicKey
            for (name, sample) in Self.samples {
                let body = sample.serializedString(pretty: true)
                let reply = try await fixture.send("POST", Self.route + "advancedCommerce", body: body)
                let jws = try CompactJWS(try #require(try reply.json["signature"]?.string))
                #expect(try jws.verify(with: key).keyID == "ABCDEFGHIJ")
                let claims = try JWTClaims(parsing: jws.decodePayload())
                #expect(claims.issuer == "issuer" && claims.audience == ["advanced-commerce-api"])
                let request = try #require(claims.text("request").flatMap { Data(base64Encoded: $0) })
                #expect(request == Data(body.utf8), "\(name)")
            }
            let metrics = try await fixture.send("GET", fixture.health + "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains(#"purser_signatures_made_total{kind="advancedCommerce"} 4"#), "\(text)")
        }
    }

    // MARK: Parts

    private static func violations(of body: JSONValue, _ fixture: DaemonFixture) async throws -> [String] {
        let reply = try await fixture.send("POST", route + "advancedCommerce", body: body.serializedString())
        return try reply.json["violations"]?.array?.map {
            "\($0["field"]?.string ?? "") \($0["rule"]?.string ?? "")"
        } ?? (reply.status == 200 ? [] : ["status \(reply.status)"])
    }

    private static func fields<Model: WireModel>(of type: Model.Type) -> [String: Bool] {
        Dictionary(type.fields.map { ($0.name, $0.isRequired) }) { first, _ in first }
    }

    private static func known<Value: OpenValue<String>>(_ type: Value.Type) -> [String] { type.known.map(\.rawValue) }

    private static func value(at path: [String], of value: JSONValue) -> JSONValue? {
        path.reduce(value) { value, name in Int(name).map { value?[$0] } ?? value?[name] }
    }

    /// A path as violations name it: a number is a position.
    private static func name(of path: [String]) -> String {
        path.dropFirst().reduce(path.first ?? "") { name, step in
            Int(step) == nil ? "\(name).\(step)" : "\(name)[\(step)]"
        }
    }

    /// The value with another at the end of a path, or without it.
    private static func replace(_ path: [String], of value: JSONValue, by new: JSONValue?) -> JSONValue {
        guard let step = path.first else { return new ?? value }
        let rest = Array(path.dropFirst())
        if let array = value.array {
            return .array(
                array.enumerated().map { index, element in
                    String(index) == step ? replace(rest, of: element, by: new) : element
                })
        }
        let members = value.object?.members ?? []
        return .object(
            JSONObject(
                members.compactMap { member in
                    guard member.key == step else { return (member.key, member.value) }
                    if rest.isEmpty { return new.map { (step, $0) } }
                    return (step, replace(rest, of: member.value, by: new))
                }))
    }
}
