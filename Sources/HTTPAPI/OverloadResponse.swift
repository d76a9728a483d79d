import Domain
package import HTTPTypes
import HummingbirdCore
package import NIOCore

/// The answer to a request that nobody has time for: written beforehand but for the request's id.
struct OverloadResponse: Sendable {
    /// How long a caller waits at least before it tries again; by then what is worked on now has been answered.
    static let pause = Duration.seconds(1)

    private let status: HTTPResponse.Status
    private let headers: HTTPFields
    /// What stands before and after the id, where the body has one.
    private let body: (before: [UInt8], after: [UInt8])

    /// `answer`: the answer as it is to be, with `placeholder`, if its body names the request, for the request's id.
    init(_ answer: Answer, placeholder: String? = nil) {
        status = answer.status
        var headers = answer.headers
        headers[.contentType] = answer.contentType
        headers[.cacheControl] = "no-store"
        self.headers = headers
        let bytes: [UInt8] = if case .bytes(let bytes) = answer.body { bytes } else { [] }
        guard let mark = placeholder.map({ Array($0.utf8) }),
            let place = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else {
            body = (bytes, [])
            return
        }
        body = (Array(bytes[..<place]), Array(bytes[place...].dropFirst(mark.count)))
    }

    /// The answer to one request, counted.
    func answer(
        _ request: HTTPRequest, _ meter: RequestMeter, _ clock: HTTPDateClock, _ makeRequestID: () -> String
    ) -> (head: HTTPResponse, body: ByteBuffer) {
        meter.countRefusal()
        return answer(
            requestID: RequestID.sane(RequestHeaders(request.headerFields)[.xRequestID]) ?? makeRequestID(),
            date: clock.text())
    }

    /// The answer to one request that has been looked at, counted.
    func response(
        to request: Request, requestID: String, _ meter: RequestMeter, _ clock: HTTPDateClock
    ) -> Response {
        meter.countRefusal()
        let (head, body) = answer(requestID: requestID, date: clock.text())
        let response = Response(
            status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(requestID: String, date: String) -> (head: HTTPResponse, body: ByteBuffer) {
        var headers = headers
        headers.append(HTTPField(name: .xRequestID, value: requestID))
        headers.append(HTTPField(name: .date, value: date))
        var buffer = ByteBuffer(bytes: body.before)
        if !body.after.isEmpty {
            buffer.writeString(requestID)
            buffer.writeBytes(body.after)
        }
        return (HTTPResponse(status: status, headerFields: headers), buffer)
    }
}

extension ServiceError {
    static let overloaded = ServiceError(
        .overloaded, "Too many requests are being worked on; nothing was done about this one. Try again.",
        retryAfter: OverloadResponse.pause)
}

extension RequestHandler {
    /// Answers a request that there is no place for; at once, on the event loop, before anything else is done.
    package func shed(_ request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer) {
        overload.answer(request, meter, clock, makeRequestID)
    }
}

extension AppleProxyHandler {
    /// Answers a request that there is no place for; at once, on the event loop, before anything else is done.
    package func shed(_ request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer) {
        AppleProxyRefusal.overload(now: now()).answer(request, meter, clock, makeRequestID)
    }
}
