import Domain
import TestSupport
import Testing

struct TransactionBatchServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    private var call: UpstreamCall {
        UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600))
    }

    @Test func `each id has its transaction or its own problem, in the order given`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [[.sample(id: "1"), .sample(id: "2"), .sample(id: "3")]])
        gateway.fail("2", with: ServiceError(.appleRateLimited, "slow"))
        let entries = try await TransactionBatchService(gateway: gateway).transactions(["3", "404", "2", "1"], call)
        #expect(entries.map(\.transactionID) == ["3", "404", "2", "1"])
        let outcomes = entries.map { entry in
            switch entry.result {
            case .success(let transaction): transaction.transactionID
            case .failure(let error): error.reason.rawValue
            }
        }
        #expect(outcomes == ["3", "apple-rejected", "apple-rate-limited", "1"])
    }

    @Test func `at most eight are asked at once`() async throws {
        let identifiers = (1...20).map(String.init)
        let gateway = FakeAppStoreGateway(accounts: [identifiers.map { .sample(id: $0) }])
        gateway.gate.close()
        async let entries = TransactionBatchService(gateway: gateway).transactions(identifiers, call)
        await gateway.gate.hasArrivals(8)
        gateway.gate.open()
        #expect(try await entries.map(\.transactionID) == identifiers)
        #expect(gateway.mostUnderWay == 8)
    }

    private func identifiers(_ fields: [String: FieldValue]) throws -> [String] {
        try FieldReader.read(fields) { TransactionBatchService.identifiers(&$0) }
    }

    @Test func `the ids of a body are read once each, every bad one is named`() throws {
        let read = try identifiers([
            "transactionIds": .array([.string("2"), .string("1"), .string("2")])
        ])
        #expect(read == ["2", "1"])
        let error = #expect(throws: ServiceError.self) {
            try identifiers([
                "transactionIds": .array([.string("1"), .string("a/b"), .integer(3)]), "colour": .null,
            ])
        }
        #expect(error?.violations.map(\.field) == ["transactionIds[1]", "transactionIds[2]", "colour"])
        let tooMany = FieldValue.array(Array(repeating: .string("1"), count: 101))
        for bad in [nil, .null, .string("1"), .array([]), tooMany] as [FieldValue?] {
            let error = #expect(throws: ServiceError.self) {
                try identifiers(bad.map { ["transactionIds": $0] } ?? [:])
            }
            #expect(error?.violations.map(\.field) == ["transactionIds"])
        }
    }
}
