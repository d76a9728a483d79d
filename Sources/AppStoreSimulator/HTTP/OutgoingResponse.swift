import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore
import NIOSSL

/// A response before it has headers that every response has.
struct OutgoingResponse: Sendable {
    var status: Int
    var contentType: String?
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static func json(_ status: Int, _ body: [UInt8]) -> OutgoingResponse {
        OutgoingResponse(status: status, contentType: "application/json", body: body)
    }

    static func json(_ status: Int, _ value: JSONValue) -> OutgoingResponse {
        json(status, value.serialized(pretty: true) + [UInt8(ascii: "\n")])
    }

    static func text(_ status: Int, _ text: String) -> OutgoingResponse {
        OutgoingResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }
}

/// What the listener is to do with a request's outcome.
enum ResponseTransmission: Sendable {
    case response(OutgoingResponse)
    /// Sends the first half of the body, then ends the connection.
    case truncated(OutgoingResponse)
    /// Resets the connection.
    case reset
}

/// Sends answers, and breaks connections off where a fault wants it.
struct ResponseSender {
    /// The channel of the request: the connection in HTTP/1.1, a stream of it in HTTP/2.
    let channel: any Channel

    /// Sends one answer, or breaks the connection off in its stead.
    @concurrent
    func send(_ transmission: ResponseTransmission, with writer: consuming ResponseWriter) async throws {
        switch transmission {
        case .response(let response):
            try await writer.write(
                response: response.head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
        case .truncated(let response):
            var body = try await writer.writeHead(response.head)
            try await body.write(ByteBuffer(bytes: response.body.prefix(response.body.count / 2)))
            try await breakConnection(byReset: false)
        case .reset:
            try await breakConnection(byReset: true)
        }
    }

    /// Closes the TCP connection below TLS, so that the client gets no TLS farewell either.
    private func breakConnection(byReset: Bool) async throws {
        let channel = channel
        try await channel.eventLoop.submit {
            for candidate in [channel, channel.parent] {
                guard let candidate,
                    let tls = try? candidate.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                else { continue }
                if byReset {
                    // With no time to linger, the kernel sends RST instead of FIN.
                    _ = (candidate as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                }
                tls.close(mode: .all, promise: nil)
                return
            }
        }.get()
    }
}

extension OutgoingResponse {
    fileprivate var head: HTTPResponse {
        var fields = HTTPFields()
        fields[.contentLength] = String(body.count)
        fields[.contentType] = contentType
        for (name, value) in headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }
}

/// Dates as HTTP headers have them (RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: CInt, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let day = "\(days[Int(parts.tm_wday)]), \(padded(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        let clock = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return "\(day) \(padded(parts.tm_year + 1900, 4)) \(clock) GMT"
    }
}
