import AppStoreAPI
import JSON
import Testing

/// Holds the errors against the data, both ways.
struct ErrorContractTests {
    @Test func `every error that Apple documents is there, and no other`() throws {
        #expect(try Set(ContractData.errors().keys) == Set(APIErrorCode.allCases.map(\.name)))
    }

    @Test func `an error has Apple's number and properties`() throws {
        let documented = try ContractData.errors()
        for error in APIErrorCode.allCases {
            let facts = try #require(documented[error.name]?.object, "\(error)")
            #expect(facts["code"]?.int64 == error.code, "\(error)")
            #expect(facts["retryable"]?.bool == error.isRetryable, "\(error)")
            #expect(facts["deprecated"]?.bool == error.isDeprecated, "\(error)")
        }
    }
}
