import AppStoreAPI
import AppStoreSimulator
import Curl
import JOSE
import JSON
import Testing

/// What all of Apple's calls have in common.
struct EveryCallTests {
    /// A call about things that there are not.
    private func endpoint(_ operation: Endpoint.Operation) -> Endpoint {
        let count = operation.pathTemplate.count { $0 == "{" }
        return Endpoint(operation, Array(repeating: "1", count: count))
    }

    private func call(
        _ fixture: SimulatorFixture, _ operation: Endpoint.Operation, token: String? = nil
    ) async throws -> CurlResponse {
        let environment: SimulatedEnvironment = operation.isInSandbox ? .sandbox : .production
        let endpoint = endpoint(operation)
        let body = endpoint.method == "GET" || endpoint.method == "DELETE" ? nil : Array("{}".utf8)
        return try await fixture.call(endpoint, in: environment, body: body, token: token)
    }

    @Test func `none is unknown`() async throws {
        try await SimulatorFixture.with { fixture in
            for operation in Endpoint.Operation.allCases {
                let response = try await call(fixture, operation)
                let isMissing = response.status == 404 && response.body.isEmpty
                #expect(response.status != 405 && response.status < 500 && !isMissing, "\(operation)")
            }
            #expect(Set(fixture.state.received.requests.compactMap(\.operation)) == Set(Endpoint.Operation.allCases))
        }
    }

    @Test func `none does anything for a stranger`() async throws {
        try await SimulatorFixture.with { fixture in
            let expired = try fixture.token { $0.expiresAt = fixture.clock.now }
            let stranger = try fixture.token { $0.others["bid"] = "com.example.stranger" }
            for operation in Endpoint.Operation.allCases {
                #expect(try await call(fixture, operation, token: expired).status == 401, "\(operation)")
                let response = try await call(fixture, operation, token: stranger)
                #expect(try ErrorPayload(parsing: response.body).errorCode == APIErrorCode.appNotFound.code)
            }
        }
    }

    @Test func `each can be limited`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.rateLimits = [RateLimitRule(limit: 0)]
            for operation in Endpoint.Operation.allCases {
                let response = try await call(fixture, operation)
                #expect(response.status == 429 && response.headers["Retry-After"] != nil, "\(operation)")
                #expect(try ErrorPayload(parsing: response.body).errorCode == APIErrorCode.rateLimitExceeded.code)
            }
        }
    }

    @Test func `each can be made to fail`() async throws {
        try await SimulatorFixture.with { fixture in
            for operation in Endpoint.Operation.allCases {
                fixture.state.inject(
                    Fault(
                        .status(500, errorCode: 5_000_001, errorMessage: "Later.", retryAfter: nil),
                        operation: operation))
                let response = try await call(fixture, operation)
                #expect(response.status == 500, "\(operation)")
            }
        }
    }
}
