import AppStoreAPI
import JSON
import Testing

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

    @Test func `the bodies of a call have types`() throws {
        for call in try ContractData.endpoints().members {
            for body in ["request", "response"].compactMap({ call.value.object?[$0]?.string }) where body != "image/png"
            {
                #expect(Catalogue.models[body] != nil, "\(call.key): \(body)")
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
