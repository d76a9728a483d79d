import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads a request's body whole, within its limit.
enum RequestBodyReader {
    /// The bytes of the body that a route takes; nil when it takes none.
    ///
    /// - Throws: `unsupportedMediaType`, `payloadTooLarge`.
    static func read(
        _ request: Request, _ headers: RequestHeaders, _ body: Route.Body, maximumBytes: Int
    ) async throws(ServiceError) -> [UInt8]? {
        guard body != .none, body != .secretPEM else { return nil }
        let isDeclared = isMediaType(headers[.contentType], "application/json")
        guard isDeclared || body == .optionalJSON else { throw undeclared }
        let bytes = try await collect(request, maximumBytes: maximumBytes)
        if body == .optionalJSON, bytes.isEmpty { return Array("{}".utf8) }
        guard isDeclared else { throw undeclared }
        return bytes
    }

    /// The bytes of a body that is a secret; nil when the route takes none.
    ///
    /// What they came in is wiped.
    ///
    /// - Throws: `unsupportedMediaType`, `payloadTooLarge`.
    static func readSecret(
        _ request: Request, _ headers: RequestHeaders, _ body: Route.Body, maximumBytes: Int
    ) async throws(ServiceError) -> SecretText? {
        guard body == .secretPEM else { return nil }
        guard isMediaType(headers[.contentType], "application/x-pem-file") else {
            throw ServiceError(.unsupportedMediaType, "Send the key file as `Content-Type: application/x-pem-file`.")
        }
        var pieces: [ByteBuffer] = []
        defer { for piece in pieces { wipe(piece) } }
        var count = 0
        do {
            for try await piece in request.body {
                pieces.append(piece)
                count += piece.readableBytes
                guard count <= maximumBytes else { throw NIOTooManyBytesError(maxBytes: maximumBytes) }
            }
        } catch is NIOTooManyBytesError {
            throw ServiceError(.payloadTooLarge, "The key file is larger than \(maximumBytes) bytes.")
        } catch {
            // The client has broken off, or was cut off; nobody reads this.
            throw ServiceError(.internalError, "Internal error.", cause: "\(type(of: error)): \(error)")
        }
        return SecretText(maximumCount: count) { memory in
            var position = 0
            for piece in pieces {
                piece.withUnsafeReadableBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: memory[position...]).copyMemory(from: bytes)
                    position += bytes.count
                }
            }
            return position
        }
    }

    /// Overwrites what a buffer holds, also for others that share its memory: all of them are pieces of the same body.
    private static func wipe(_ piece: ByteBuffer) {
        piece.withUnsafeReadableBytes { bytes in
            guard let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return }
            explicit_bzero(start, bytes.count)
        }
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

    /// Whether a field `Content-Type` names a media type, whatever its parameters.
    private static func isMediaType(_ contentType: String?, _ type: StaticString) -> Bool {
        guard let contentType else { return false }
        return HeaderText.matches(HeaderText.trim(Substring(contentType.utf8.prefix { $0 != UInt8(ascii: ";") })), type)
    }
}
