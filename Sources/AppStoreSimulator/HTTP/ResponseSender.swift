import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOSSL

/// Sends answers, and breaks connections off where a fault wants it.
struct ResponseSender {
    /// The channel of the request: the connection in HTTP/1.1, a stream of it in HTTP/2.
    let channel: any Channel

    /// Sends one answer, or breaks the connection off in its stead.
    @concurrent
    func send(_ delivery: Delivery, with writer: consuming ResponseWriter) async throws {
        switch delivery {
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
