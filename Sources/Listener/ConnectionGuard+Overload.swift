package import HTTPTypes
package import NIOCore
import NIOHTTPTypes

/// A request that finds every place taken is answered here, on the event loop: what comes behind costs many times more than
/// saying no.
extension ConnectionGuard {
    /// Answers a request whose body, if any, is then read and thrown away; the connection stays.
    func turnAway(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        isTurningAway = true
        // A client that waits for leave to send its body may or may not send it now, so nothing can be read after it.
        if request.headerFields[.expect] != nil { isLastRequest = true }
        var (head, body) = answerOverload(request)
        head.headerFields[.contentLength] = String(body.readableBytes)
        write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
        write(context: context, data: wrapOutboundOut(.body(body)), promise: nil)
        write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
        flush(context: context)
    }
}

/// Answers a request that cannot be worked on because too many others are: head, without its length, and body.
package typealias OverloadAnswer = @Sendable (HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)

extension Refusal {
    /// For a listener whose owner has no answer of its own.
    static let answerOverload: OverloadAnswer = { _ in
        let refusal = Refusal(status: .serviceUnavailable)
        return (
            HTTPResponse(
                status: refusal.status,
                headerFields: [.contentType: "application/problem+json", .retryAfter: "1"]), refusal.body
        )
    }
}
