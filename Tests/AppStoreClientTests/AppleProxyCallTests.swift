import AppStoreAPI
import Domain
import Testing

@testable import AppStoreClient

/// Which of Apple's calls a request at a door means.
struct AppleProxyCallTests {
    private func path(of operation: Endpoint.Operation, with parameter: String = "1000000000000001") -> String {
        operation.pathTemplate.split(separator: "/").map { $0.hasPrefix("{") ? "/\(parameter)" : "/\($0)" }.joined()
    }

    @Test(arguments: Endpoint.Operation.allCases)
    func `every call of Apple's is found by its method and path`(operation: Endpoint.Operation) throws {
        guard case .found(let call) = AppleProxyMatch(method: operation.method, path: path(of: operation)) else {
            Issue.record("\(operation.name) is not found")
            return
        }
        #expect(call.name == operation.name)
        switch operation {
        case .sendConsumptionInformation:
            #expect(call.kind == .consumption(.v2, transactionID: "1000000000000001"))
        case .sendConsumptionInformationV1:
            #expect(call.kind == .consumption(.v1, transactionID: "1000000000000001"))
        case .uploadImage: #expect(call.kind == .imageUpload)
        case .setAppAccountToken:
            #expect(call.kind == .appAccountToken(originalTransactionID: "1000000000000001"))
        default: #expect(call.kind == .forwarded)
        }
        if operation.method != "GET" {
            #expect(![.transactionsRead, .refundsRead].contains(call.scope), "a reader's scope writes nothing")
        }
    }

    @Test func `each of Apple's other APIs has a scope of its own`() {
        for operation in Endpoint.Operation.allCases {
            guard case .found(let call) = AppleProxyMatch(method: operation.method, path: path(of: operation)) else {
                continue
            }
            #expect((call.scope == .retentionMessagingManage) == (operation.api == .retentionMessaging))
            #expect((call.scope == .advancedCommerceManage) == (operation.api == .advancedCommerce))
        }
    }

    @Test(arguments: ["a-Z_0.9~", "com.example%2Egems", "en-US", "a:b@c", "%C3%A9", "a%20b"])
    func `a parameter that is one plain segment is taken`(parameter: String) {
        guard case .found = AppleProxyMatch(method: "GET", path: path(of: .getTransactionInfo, with: parameter)) else {
            Issue.record("\(parameter) is refused")
            return
        }
    }

    @Test(arguments: [
        "..", ".", "%2E%2E", "%2e", "..%2F..%2Fv2%2Frefund%2Flookup%2F1", "a%2fb", "a%5Cb", "a%3Fb", "a%23b", "a;b",
        "a%3Bb",
        "a%252Fb", "a%00", "a%7F", "%FF", "a%", "a%2", "é", "a b", "a\"b", "a<b",
    ])
    func `a parameter that might become something else on the way is not`(parameter: String) {
        #expect(AppleProxyMatch(method: "GET", path: path(of: .getTransactionInfo, with: parameter)) == .unknown)
    }

    @Test(arguments: [
        "", "/", "inApps/v1/transactions/1", "/inapps/v1/transactions/1", "/inApps/v1/transactions/",
        "//inApps/v1/transactions/1",
        "/inApps/v1/transactions/1/", "/inApps/v1/transactions/1/finish/", "/inApps/v9/transactions/1", "/v1/apps",
    ])
    func `any other path is unknown`(path: String) {
        #expect(AppleProxyMatch(method: "GET", path: path) == .unknown)
    }

    @Test func `a path with another method says which it takes`() {
        #expect(AppleProxyMatch(method: "POST", path: "/inApps/v1/transactions/1") == .otherMethod(allowed: ["GET"]))
    }
}
