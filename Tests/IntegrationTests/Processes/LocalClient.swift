import Foundation
import JSON
import TestSupport

/// Speaks HTTP/1.1 to a Unix socket, one connection for each request, and repeats nothing by itself: whoever has no answer
/// knows that none came.
struct LocalClient: Sendable {
    struct Reply: Sendable {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]

        var json: JSONValue? { try? JSONValue(parsing: body) }
    }

    let socket: String
    /// How long a connection may be silent, in seconds; only a daemon that hangs takes so long.
    var patience = Wait.seconds
    /// Sent with each request.
    var headers: [String: String] = [:]

    /// Makes one request.
    ///
    /// - Returns: the answer; nil when there was nobody, or the connection ended before the answer was whole.
    func send(
        _ method: String, _ target: String, _ more: [String: String] = [:], body: JSONValue? = nil
    ) async -> Reply? {
        await send(method, target, more, content: body?.serialized())
    }

    /// Makes one request with a body of any bytes, which it says is JSON unless `more` has a `Content-Type`.
    func send(
        _ method: String, _ target: String, _ more: [String: String] = [:], content given: [UInt8]?
    ) async -> Reply? {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let content = given ?? []
        var fields = headers.merging(more) { _, new in new }
        if given != nil, fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        if given != nil || method != "GET" { fields["Content-Length"] = "\(content.count)" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        let request = Array("\(head)\r\n".utf8) + content
        return await withCheckedContinuation { continuation in
            // A thread of its own: whoever waits long for events must not hold up everybody else.
            Thread.detachNewThread { continuation.resume(returning: exchange(request)) }
        }
    }

    private func exchange(_ request: [UInt8]) -> Reply? {
        guard let descriptor = try? UnixSocket.connected(to: socket, patience: patience) else { return nil }
        defer { close(descriptor) }
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return nil }
            sent += count
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count >= 0 else { return nil }
            if count == 0 { return Self.reply(received) }
            received += buffer[..<count]
        }
    }

    /// Reads a whole answer, whose length its header or its chunks tell; nil if anything is missing.
    private static func reply(_ bytes: [UInt8]) -> Reply? {
        guard let separator = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<separator.lowerBound], as: UTF8.self).components(
            separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let rest = bytes[separator.upperBound...]
        guard let status, let body = headers["transfer-encoding"] == "chunked" ? joined(rest) : Array(rest),
            body.count == headers["content-length"].flatMap({ Int($0) }) ?? body.count,
            headers["content-length"] != nil || headers["transfer-encoding"] != nil
        else {
            return nil
        }
        return Reply(status: status, headers: headers, body: body)
    }

    /// The body that came in chunks (RFC 9112 section 7.1); nil unless the last of them is there.
    private static func joined(_ chunks: ArraySlice<UInt8>) -> [UInt8]? {
        var (body, rest): ([UInt8], ArraySlice<UInt8>) = ([], chunks)
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            guard let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            if size == 0 { return body }
            guard rest.endIndex - end.upperBound >= size + 2 else { return nil }
            body += rest[end.upperBound..<end.upperBound + size]
            rest = rest[(end.upperBound + size + 2)...]
        }
        return nil
    }
}
