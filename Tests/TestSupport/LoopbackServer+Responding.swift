import HTTPTypes
import HummingbirdCore
import NIOCore

extension LoopbackServer {
    /// Reads a request to its end, has it answered and sends the answer.
    @concurrent
    static func respond(
        to request: HummingbirdCore.Request, _ writer: consuming ResponseWriter, _ channel: any Channel,
        _ record: Record, _ handler: @escaping Handler
    ) async throws {
        // A stream of HTTP/2 is a channel in the channel of its connection, which is one in that of the server.
        let isStream = channel.parent?.parent != nil
        let connection = isStream ? channel.parent ?? channel : channel
        let answer = { (body: RequestBody) in
            let content = try await body.collect(upTo: 64 * 1_048_576)
            let request = Request(
                head: request.head, body: Array(content.readableBytesView),
                connection: connection.remoteAddress?.port ?? 0)
            let task = record.answer(request, by: handler)
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
        // Watching an HTTP/1.1 connection for its end would end it after the response.
        let response =
            isStream
            ? try await request.body.consumeWithCancellationOnInboundClose(answer) : try await answer(request.body)
        try await response.write(to: writer, method: request.head.method, connection)
    }
}
