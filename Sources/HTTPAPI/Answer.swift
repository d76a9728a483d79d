import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

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

    /// The answer as HummingbirdCore sends it.
    ///
    /// `preferenceApplied`: which of the client's preferences were honoured, if any.
    func response(requestID: String, date: String, preferenceApplied: String?) -> Response {
        var fields = headers
        // None of these stands in `headers`; appended, they need not be looked up.
        fields.append(HTTPField(name: .contentType, value: contentType))
        fields.append(HTTPField(name: .cacheControl, value: "no-store"))
        fields.append(HTTPField(name: .xRequestID, value: requestID))
        fields.append(HTTPField(name: .date, value: date))
        if let preferenceApplied { fields.append(HTTPField(name: .preferenceApplied, value: preferenceApplied)) }
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
