package import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import NIOSSL

extension LoopbackServer {
    /// A request as the server got it.
    package struct Request: Sendable {
        /// The head with all fields, those of HTTP/2 and the connection included.
        package let head: HTTPRequest
        package let body: [UInt8]
        /// The client's port, which tells connections apart.
        package let connection: Int

        package var method: String { head.method.rawValue }

        /// Path and query, or empty.
        package var path: String { head.path ?? "" }

        /// The value of the field with this name, of several all with commas between, or nil.
        package func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
    }

    /// What the server answers.
    package struct Response: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]
        /// Status and fields of interim (1xx) responses to send first.
        package var interim: [(status: Int, headers: [(name: String, value: String)])] = []
        package var trailers: [(name: String, value: String)] = []
        /// Sends only so many bytes of the body, then resets the connection.
        package var breaksOffAfter: Int?

        package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        package init(status: Int = 200, headers: [(name: String, value: String)] = [], _ text: String) {
            self.init(status: status, headers: headers, body: Array(text.utf8))
        }

        /// Sends the response.
        ///
        /// - Parameters:
        ///   - writer: Where to.
        ///   - method: The request's method: HEAD gets no content.
        ///   - connection: What to reset if the response is to break off.
        /// - Throws: What writing to the channel throws.
        @concurrent
        func write(
            to writer: consuming ResponseWriter, method: HTTPRequest.Method, _ connection: any Channel
        ) async throws {
            for interim in interim {
                try await writer.writeInformationalHead(try Self.head(interim.status, interim.headers))
            }
            var head = try Self.head(status, headers)
            // Trailers need a body of unannounced length in HTTP/1.1.
            if trailers.isEmpty { head.headerFields[.contentLength] = String(body.count) }
            guard method != .head else { return try await writer.writeResponse(head) }
            let buffer = ByteBuffer(bytes: body.prefix(breaksOffAfter ?? body.count))
            guard breaksOffAfter != nil || !trailers.isEmpty else {
                // With its length and in one piece, because libcurl 7.88 resets streams that have ended otherwise, and
                // NIO gives up a connection after 200 resets in half a minute.
                return try await writer.write(response: head, body: ResponseBody(byteBuffer: buffer))
            }
            var content = try await writer.writeHead(head)
            try await content.write(buffer)
            guard breaksOffAfter == nil else { return try await Self.reset(connection) }
            try await content.finish(try Self.fields(trailers))
        }

        private static func head(_ status: Int, _ headers: [(name: String, value: String)]) throws -> HTTPResponse {
            HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: try fields(headers))
        }

        private static func fields(_ headers: [(name: String, value: String)]) throws -> HTTPFields {
            var fields = HTTPFields()
            for (name, value) in headers {
                guard let name = HTTPField.Name(name) else { throw MalformedFieldName(name: name) }
                fields.append(HTTPField(name: name, value: value))
            }
            return fields
        }

        /// Ends the TCP connection with a reset, passing over the TLS handler, which would first exchange farewells.
        private static func reset(_ connection: any Channel) async throws {
            if let socket = connection as? any SocketOptionProvider {
                try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            }
            try await connection.eventLoop.flatSubmit {
                let closed = connection.eventLoop.makePromise(of: Void.self)
                do {
                    try connection.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                        .close(promise: closed)
                } catch {
                    closed.fail(error)
                }
                return closed.futureResult
            }.get()
        }
    }

    /// The test wants a field that HTTP cannot carry.
    private struct MalformedFieldName: Error {
        let name: String
    }
}
