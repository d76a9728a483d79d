import HTTPTypes
import Hummingbird
import JSON

/// What a handler answers with.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Written piece by piece; the status is sent before the first.
        case stream(@concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void)
    }

    let status: HTTPResponse.Status
    let contentType: String
    var headers: HTTPFields = [:]
    let body: Body

    static let json = "application/json; charset=utf-8"

    /// An answer of one JSON object.
    static func object(
        _ status: HTTPResponse.Status = .ok, capacity: Int = 512, _ members: (inout JSONWriter) -> Void
    ) -> Answer {
        var writer = JSONWriter(capacity: capacity)
        writer.object(members)
        return Answer(status: status, contentType: json, body: .bytes(writer.takeBytes()))
    }

    /// The answer as Hummingbird sends it.
    func response(requestID: String) -> Response {
        var fields = headers
        fields[.contentType] = contentType
        fields[.cacheControl] = "no-store"
        fields[.xRequestID] = requestID
        switch body {
        case .bytes(let bytes):
            return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .stream(let write):
            return Response(status: status, headers: fields, body: ResponseBody(write))
        }
    }
}

extension HTTPField.Name {
    /// The header that names a request in answers and logs.
    static let xRequestID = HTTPField.Name("X-Request-ID") ?? .via
}
