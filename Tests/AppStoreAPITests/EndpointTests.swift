import AppStoreAPI
import JSON
import Testing

struct EndpointTests {
    @Test(
        arguments: [
            (.getTransactionInfo(transactionId: "7"), "GET", "/inApps/v1/transactions/7", "Get Transaction Info"),
            (.getTransactionHistory(transactionId: "7"), "GET", "/inApps/v2/history/7", "Get Transaction History"),
            (.getRefundHistory(transactionId: "7"), "GET", "/inApps/v2/refund/lookup/7", "Get Refund History"),
            (
                .sendConsumptionInformation(transactionId: "7"), "PUT", "/inApps/v2/transactions/consumption/7",
                "Send Consumption Information"
            ),
            (
                .sendConsumptionInformationV1(transactionId: "7"), "PUT", "/inApps/v1/transactions/consumption/7",
                "Send Consumption Information V1"
            ),
        ] as [(Endpoint, String, String, String)])
    func `a call has Apple's method, path and name`(endpoint: Endpoint, method: String, path: String, name: String) {
        #expect(endpoint.method == method)
        #expect(endpoint.pathAndQuery == path)
        #expect(endpoint.name == name)
    }

    @Test func `a path that is spelt out wins over one with a parameter in that place`() {
        typealias Operation = Endpoint.Operation
        let match = { Operation.match(method: $0, path: $1) }
        #expect(match("GET", "/inApps/v1/messaging/image/list") == .found(.getImageList, parameters: []))
        #expect(match("DELETE", "/inApps/v1/messaging/image/1") == .found(.deleteImage, parameters: ["1"]))
        #expect(
            match("POST", "/inApps/v1/subscriptions/extend/mass")
                == .found(.extendSubscriptionRenewalDatesForAllActiveSubscribers, parameters: []))
        #expect(match("PUT", "/inApps/v1/subscriptions/extend/mass") == .otherMethod(allowed: ["POST"]))
        #expect(match("GET", "/inapps/v1/messaging/image/list") == .unknown)
        #expect(match("GET", "/inApps/v1/lookup/") == .unknown)
    }

    /// Every path that two calls could both mean goes to the one that is spelt out where they differ first.
    @Test func `no path means two calls`() {
        typealias Operation = Endpoint.Operation
        var shared = 0
        for one in Operation.allCases {
            for other in Operation.allCases where one != other {
                let segments = (one.pathTemplate.split(separator: "/"), other.pathTemplate.split(separator: "/"))
                guard segments.0.count == segments.1.count else { continue }
                let pairs = Array(zip(segments.0, segments.1))
                func isParameter(_ segment: Substring) -> Bool { segment.hasPrefix("{") }
                guard pairs.allSatisfy({ $0 == $1 || isParameter($0) || isParameter($1) }) else { continue }
                // Where both take a parameter, neither is told by it.
                let path =
                    "/" + pairs.map { isParameter($0) ? (isParameter($1) ? "7" : $1) : $0 }.joined(separator: "/")
                let first = pairs.first { isParameter($0) != isParameter($1) }
                let expected = first.map { isParameter($0.0) ? other : one }
                for method in [one.method, other.method] {
                    switch Operation.match(method: method, path: path[...]) {
                    case .found(let found, _):
                        #expect(found.method == method, "\(path)")
                        guard let expected else { continue }
                        shared += 1
                        #expect(found.pathTemplate == expected.pathTemplate, "\(method) \(path)")
                    case .otherMethod(let allowed):
                        #expect(expected?.method != method && !allowed.contains(method), "\(method) \(path)")
                    case .unknown: Issue.record("\(method) \(path) means nothing")
                    }
                }
            }
        }
        #expect(shared > 0)
        #expect(
            Operation.match(method: "PUT", path: "/inApps/v1/transactions/consumption/appAccountToken")
                == .found(.sendConsumptionInformationV1, parameters: ["appAccountToken"]))
    }

    @Test(arguments: [
        ("a/../b", "a%2F..%2Fb"), ("a b?c=d&e#f", "a%20b%3Fc%3Dd%26e%23f"), ("50%", "50%25"), ("Aa0-._~", "Aa0-._~"),
        ("é\u{1F600}", "%C3%A9%F0%9F%98%80"), (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("+;,", "%2B%3B%2C"),
    ])
    func `an identifier cannot leave its segment`(identifier: String, encoded: String) {
        #expect(
            Endpoint.getTransactionInfo(transactionId: identifier).pathAndQuery == "/inApps/v1/transactions/" + encoded)
    }

    @Test func `a revision is encoded and sent as a parameter`() {
        #expect(
            Endpoint.getRefundHistory(transactionId: "7", revision: "a+b/c==").pathAndQuery
                == "/inApps/v2/refund/lookup/7?revision=a%2Bb%2Fc%3D%3D")
    }

    @Test func `an empty history query has no question mark`() {
        #expect(HistoryQuery().parameters.isEmpty)
        #expect(Endpoint.getTransactionHistory(transactionId: "7").pathAndQuery.contains("?") == false)
    }

    @Test func `a full history query repeats lists, keeps dates exact and writes booleans in lower case`() {
        let query = HistoryQuery(
            startDate: 1_698_148_900_000, endDate: 1_698_148_950_000, productIds: ["com.a", "com.b&c"],
            productTypes: [.consumable, .autoRenewable], sort: .descending, subscriptionGroupIdentifiers: ["1", "2"],
            inAppOwnershipType: .familyShared, revoked: false, revision: "r=1")
        #expect(
            Endpoint.getTransactionHistory(transactionId: "7", query: query).pathAndQuery
                == "/inApps/v2/history/7?revision=r%3D1&startDate=1698148900000&endDate=1698148950000"
                + "&productId=com.a&productId=com.b%26c&productType=CONSUMABLE&productType=AUTO_RENEWABLE"
                + "&sort=DESCENDING&subscriptionGroupIdentifier=1&subscriptionGroupIdentifier=2"
                + "&inAppOwnershipType=FAMILY_SHARED&revoked=false")
    }
}

/// Holds the calls against the data, both ways.
struct EndpointContractTests {
    private typealias Operation = Endpoint.Operation

    @Test func `every call that Apple documents is there, and no other`() throws {
        let documented = try ContractData.endpoints()
        #expect(documented.members.count == 38)
        #expect(Set(documented.keys) == Set(Operation.allCases.map(\.name)))
        #expect(Operation.allCases.count == documented.members.count)
    }

    @Test func `a call has Apple's method, path and rate`() throws {
        let documented = try ContractData.endpoints()
        for operation in Operation.allCases {
            let call = try #require(documented[operation.name]?.object, "\(operation)")
            #expect(call["method"]?.string == operation.method, "\(operation)")
            #expect(call["path"]?.string == operation.pathTemplate, "\(operation)")
            #expect(call["api"]?.string == operation.api.rawValue, "\(operation)")
            #expect(call["rate"]?.int64 == operation.requestsPerSecond.map(Int64.init), "\(operation)")
            #expect(call["sandbox"]?.bool == operation.isInSandbox, "\(operation)")
            #expect(call["repetition"]?.string == "\(operation.repetition)", "\(operation)")
        }
    }

    @Test func `the bodies of a call have types, but for answers that have the members of one that has`() throws {
        let models = try ModelCatalogue.models()
        let objects = try ContractData.objects()
        let members = { try #require(objects[$0]?.object, "\($0)").keys.sorted() }
        let standIn = try members("AdvancedCommerceRequestRefundResponse")
        for (name, call) in try ContractData.endpoints().members.map({ ($0.key, $0.value.object) }) {
            if let request = call?["request"]?.string, request != "image/png" {
                #expect(models[request] != nil, "\(name): \(request)")
            }
            if let response = call?["response"]?.string, models[response] == nil {
                #expect(call?["api"]?.string == Endpoint.API.advancedCommerce.rawValue, "\(name): \(response)")
                #expect(try members(response) == standIn, "\(name): \(response)")
            }
        }
    }

    @Test(arguments: [("Get Transaction History", false), ("Get Transaction History V1", true)])
    func `a history query has the parameters that Apple documents`(name: String, isVersion1: Bool) throws {
        let query = HistoryQuery(
            startDate: 1, endDate: 2, productIds: ["p"], productTypes: [.consumable], sort: .ascending,
            subscriptionGroupIdentifiers: ["g"], inAppOwnershipType: .purchased, revoked: true,
            excludeRevoked: isVersion1 ? true : nil, revision: "r")
        let documented = try ContractData.endpoints()[name]?.object?["query"]?.array?.compactMap(\.string)
        #expect(query.parameters.map(\.name) == documented)
    }
}
