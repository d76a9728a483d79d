import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

extension SimulatorFixture {
    static let image = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"
    static let bullet = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d12"
    static let message = "0b0c8a5e-52a7-4d6f-8f55-4c0d5a4f1f0e"

    /// Makes a call of the Retention Messaging API.
    func messaging(
        _ operation: Endpoint.Operation, _ parameters: [String] = [], query: [QueryParameter] = [],
        in environment: SimulatedEnvironment = .sandbox, body: JSONValue? = nil
    ) async throws -> CurlResponse {
        try await call(
            Endpoint(operation, parameters, query: query), in: environment, body: body?.serialized())
    }

    /// Uploads an image.
    func uploadImage(
        _ identifier: String = image, size: String? = nil, in environment: SimulatedEnvironment = .sandbox,
        bytes: [UInt8] = PNGFile.bytes(), contentType: String = "image/png"
    ) async throws -> CurlResponse {
        try await call(
            Endpoint(.uploadImage, [identifier], query: size.map { [QueryParameter("imageSize", $0)] } ?? []),
            in: environment, body: bytes, contentType: contentType)
    }

    /// Expects success without a body, or one of Apple's errors.
    func expect(
        _ error: APIErrorCode?, _ response: CurlResponse, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard let error else {
            #expect(response.status == 200, sourceLocation: sourceLocation)
            #expect(response.body.isEmpty, sourceLocation: sourceLocation)
            return
        }
        let payload = try ErrorPayload(parsing: response.body)
        #expect(response.status == error.httpStatus, sourceLocation: sourceLocation)
        #expect(payload.errorCode == error.code, sourceLocation: sourceLocation)
    }
}
