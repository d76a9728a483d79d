import Domain
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads a request's body whole, within its limit.
enum RequestBodyReader {
    /// The bytes of the body that a route takes; nil when it takes none.
    ///
    /// - Throws: `unsupportedMediaType`, `payloadTooLarge`.
    static func read(_ request: Request, _ body: Route.Body, maximumBytes: Int) async throws(ServiceError) -> [UInt8]? {
        guard body != .none else { return nil }
        let isDeclared = isJSON(request.headers[.contentType])
        guard isDeclared || body == .optionalJSON else { throw undeclared }
        let bytes = try await collect(request, maximumBytes: maximumBytes)
        if body == .optionalJSON, bytes.isEmpty { return Array("{}".utf8) }
        guard isDeclared else { throw undeclared }
        return bytes
    }

    /// Whether a request brings a body that its route does not take, and that somebody may think is heeded.
    ///
    /// - Throws: `payloadTooLarge`.
    static func hasUnexpected(
        _ request: Request, _ body: Route.Body, maximumBytes: Int
    ) async throws(ServiceError) -> Bool {
        guard body == .none, request.method != .get, request.method != .head else { return false }
        return try await !collect(request, maximumBytes: maximumBytes).isEmpty
    }

    private static var undeclared: ServiceError {
        ServiceError(.unsupportedMediaType, "Send the body as `Content-Type: application/json`.")
    }

    /// The body's bytes, whatever they are.
    ///
    /// - Throws: `payloadTooLarge`.
    static func collect(_ request: Request, maximumBytes: Int) async throws(ServiceError) -> [UInt8] {
        do {
            let buffer = try await request.body.collect(upTo: maximumBytes)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ServiceError(.payloadTooLarge, "The body is larger than \(maximumBytes) bytes.")
        } catch {
            // The client has broken off, or was cut off; nobody reads this.
            throw ServiceError(.internalError, "Internal error.", cause: "\(type(of: error)): \(error)")
        }
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        guard let mediaType = contentType?.split(separator: ";").first else { return false }
        return mediaType.lowercased().filter { $0 != " " } == "application/json"
    }
}
